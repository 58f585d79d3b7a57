import { act } from 'preact/test-utils';
import { describe, expect, it, vi } from 'vitest';

import { RollBack } from '../../../src/shared/plan/RollBack';
import { CoworkError } from '../../../src/shared/channel/channel';
import type { Rollback, RollbackRequest } from '../../../src/shared/types';
import { RunActions } from '../../../src/shared/run/actions';
import { RunProvider } from '../../../src/shared/run/context';
import { RunStore } from '../../../src/shared/run/store';
import { AT, FakeServer, planned, settled } from '../../runs';
import { button, click, draw, one } from '../../screen';

const CHECKPOINTS = ['k1', 'k2'].map(id => ({
  id,
  created_at: AT,
  label: `before ${id}`,
  tool: null,
  step_id: null,
  files: [],
  uncovered: [],
  job_id: 'j1'
}));
const MINE = { path: 'mine.md', why: 'you changed it after that', can_overwrite: true };
const THEIRS = {
  path: 'theirs.md',
  why: 'another conversation changed it after that',
  can_overwrite: true
};
const LOST = { path: 'huge.bin', why: 'its content was not kept: too large', can_overwrite: false };

/** Answers as the server does: what is to be overwritten is not skipped. */
function answer({ overwrite = [], dry_run }: RollbackRequest): Rollback {
  return {
    restored: ['a.py', ...overwrite],
    removed: [],
    skipped: [MINE, THEIRS, LOST].filter(({ path }) => !overwrite.includes(path)),
    checkpoint_id: dry_run ? null : 'k9',
    dry_run,
    notes: []
  };
}

async function calm(): Promise<void> {
  await act(settled);
  await act(settled);
}

async function open(
  respond: (body: RollbackRequest) => Rollback = answer
): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const card = planned();
  const server = new FakeServer(card);
  server.answers.set('GET context/c1/checkpoints', { items: CHECKPOINTS, next: null });
  const request = server.request.bind(server);
  vi.spyOn(server, 'request').mockImplementation(async (method, path, body) => {
    if (path.endsWith('/rollback')) {
      server.answers.set(`${method} ${path}`, respond(body as RollbackRequest));
    }
    return request(method, path, body);
  });
  const actions = new RunActions(server, new RunStore(server, card));
  const screen = draw(
    <RunProvider value={{ actions, live: true }}>
      <RollBack onClose={() => undefined} />
    </RunProvider>
  );
  await calm();
  return { screen, server };
}

const boxes = (screen: HTMLElement): HTMLInputElement[] => [
  ...screen.querySelectorAll<HTMLInputElement>('input[type=checkbox]')
];

async function tick(box: HTMLInputElement | undefined): Promise<void> {
  await act(async () => box?.click());
  await calm();
}

describe('what a rollback would leave', () => {
  it('is listed with the reason, and with a choice only where there is one', async () => {
    const { screen } = await open();
    expect(screen.textContent).toContain('mine.md: you changed it after that');
    expect(boxes(screen).map(box => box.getAttribute('aria-label'))).toEqual([
      'Roll back anyway: mine.md',
      'Roll back anyway: theirs.md'
    ]);
    expect(boxes(screen).some(({ checked }) => checked)).toBe(false);
    expect(screen.textContent).toContain(
      'Would stay as it is · 1 filehuge.bin: its content was not kept'
    );
    expect(one(screen, 'fieldset > legend').textContent).toContain('unless you choose otherwise');
  });

  it('goes back if the user says so, after a look at what would happen then', async () => {
    const { screen, server } = await open();
    await tick(boxes(screen)[0]);
    expect(server.changes.at(-1)?.body).toEqual({
      scope: 'card',
      dry_run: true,
      overwrite: ['mine.md']
    });
    expect(screen.textContent).toContain('Would be restored · 2 filesa.pymine.md');
    expect(boxes(screen).map(({ checked }) => checked)).toEqual([true, false]);
    await click(button(screen, 'Roll back now'));
    await calm();
    expect(server.changes.at(-1)).toEqual({
      method: 'POST',
      path: 'checkpoints/k1/rollback',
      body: { scope: 'card', dry_run: false, overwrite: ['mine.md'] }
    });
    expect(screen.textContent).toContain('Restored · 2 filesa.pymine.md');
    expect(screen.textContent).toContain('Stayed as it is · 2 filestheirs.md: another');
    await click(button(screen, 'Undo the rollback'));
    expect(server.changes.at(-1)).toEqual({
      method: 'POST',
      path: 'checkpoints/k9/rollback',
      body: { scope: 'card', dry_run: false }
    });
  });

  it('can be chosen all at once, and not at all again', async () => {
    const { screen, server } = await open();
    await click(button(screen, 'Choose all 2'));
    await calm();
    expect(server.changes.at(-1)?.body).toEqual({
      scope: 'card',
      dry_run: true,
      overwrite: ['mine.md', 'theirs.md']
    });
    await click(button(screen, 'Choose none'));
    await calm();
    expect(server.changes.at(-1)?.body).toEqual({ scope: 'card', dry_run: true });
    expect(boxes(screen).some(({ checked }) => checked)).toBe(false);
  });

  it('is chosen anew for another checkpoint', async () => {
    const { screen, server } = await open();
    await tick(boxes(screen)[0]);
    const select = one<HTMLSelectElement>(screen, 'select');
    await act(async () => {
      select.value = 'k2';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await calm();
    expect(server.changes.at(-1)).toEqual({
      method: 'POST',
      path: 'checkpoints/k2/rollback',
      body: { scope: 'card', dry_run: true }
    });
    expect(boxes(screen).some(({ checked }) => checked)).toBe(false);
  });
});

describe('cells that not only the agent changed', () => {
  const CELLS = [
    { cell_id: 'c4', number: 4, before: 'x = 1', now: 'x = 2\ny = 3' },
    { cell_id: 'new', number: null, before: 'gone = 1', now: null }
  ];

  function byCell({ overwrite_cells = {}, dry_run }: RollbackRequest): Rollback {
    const cells = CELLS.filter(({ cell_id }) => !overwrite_cells['n.ipynb']?.includes(cell_id));
    const partly = [
      { path: 'n.ipynb', why: 'you also changed cell 4', can_overwrite: true, cells }
    ];
    return {
      restored: ['n.ipynb'],
      removed: [],
      skipped: [],
      partly: cells.length > 0 ? partly : [],
      checkpoint_id: dry_run ? null : 'k9',
      preview: `p${cells.length}`
    };
  }

  it('are shown one by one, as they were and as they are', async () => {
    const { screen } = await open(byCell);
    expect(screen.textContent).toContain('Would be restored · 1 filen.ipynb');
    expect(boxes(screen).map(box => box.getAttribute('aria-label'))).toEqual([
      'Roll back anyway: Cell 4 of n.ipynb',
      'Roll back anyway: A deleted cell of n.ipynb'
    ]);
    const texts = [...screen.querySelectorAll('.cw-cell-texts > div')].map(
      ({ textContent }) => textContent
    );
    expect(texts).toEqual([
      'Before the agentx = 1',
      'Nowx = 2\ny = 3',
      'Before the agentgone = 1',
      'NowDeleted.'
    ]);
  });

  it('go back one by one', async () => {
    const { screen, server } = await open(byCell);
    await tick(boxes(screen)[0]);
    expect(server.changes.at(-1)?.body).toEqual({
      scope: 'card',
      dry_run: true,
      overwrite_cells: { 'n.ipynb': ['c4'] }
    });
    expect(boxes(screen).map(({ checked }) => checked)).toEqual([true, false]);
    await click(button(screen, 'Roll back now'));
    await calm();
    expect(server.changes.at(-1)?.body).toEqual({
      scope: 'card',
      dry_run: false,
      overwrite_cells: { 'n.ipynb': ['c4'] },
      preview: 'p1'
    });
    expect(screen.textContent).toContain('Restored · 1 filen.ipynb');
    expect(screen.textContent).toContain(
      'Stayed as it is · 1 cellA deleted cell of n.ipynb: someone else changed it too'
    );
    expect(screen.textContent).not.toContain('1 filen.ipynb:');
  });
});

describe('a preview that is not true any more', () => {
  it('is shown anew instead of being carried out', async () => {
    const first: Rollback = {
      restored: ['a.py', 'b.py'],
      removed: [],
      skipped: [],
      checkpoint_id: null,
      preview: 'p1'
    };
    const second: Rollback = {
      ...first,
      restored: ['a.py'],
      skipped: [{ ...MINE, path: 'b.py' }],
      preview: 'p2'
    };
    const { screen, server } = await open(({ dry_run, preview }) => {
      if (!dry_run && preview === 'p1') {
        throw new CoworkError({
          code: 'preview_changed',
          message: 'Something has changed.',
          details: { preview: second },
          status: 409
        });
      }
      return dry_run ? first : { ...second, checkpoint_id: 'k9' };
    });
    await click(button(screen, 'Roll back now'));
    await calm();
    expect(
      [...screen.querySelectorAll('[role=alert]')].map(({ textContent }) => textContent)
    ).toContain('Something has changed.');
    expect(screen.textContent).toContain('Would be restored · 1 filea.py');
    expect(boxes(screen).map(box => box.getAttribute('aria-label'))).toEqual([
      'Roll back anyway: b.py'
    ]);
    await click(button(screen, 'Roll back now'));
    await calm();
    expect(server.changes.at(-1)?.body).toEqual({ scope: 'card', dry_run: false, preview: 'p2' });
    expect(screen.textContent).toContain('Rolled back.');
  });
});
