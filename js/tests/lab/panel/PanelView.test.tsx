import { act } from 'preact/test-utils';
import { describe, expect, it, vi } from 'vitest';

import { PanelView, type PanelViewProps } from '../../../src/lab/panel/PanelView';
import type { PanelSection } from '../../../src/lab/part';
import { CoworkError } from '../../../src/shared/channel/channel';
import { event, FakeServer, job, planned, runCard, settled } from '../../runs';
import { GUIDE, NOT_READY, READY } from '../../samples';
import { button, draw, one, PATIENCE } from '../../screen';
import { calm, handsOn, list, press, pressKey, unfold, write } from './drawing';

const SALES = {
  id: 'c1',
  title: 'Clean sales.csv',
  notebook: 'a.ipynb',
  role: 'planner',
  model: null,
  pinned: false,
  created_at: '',
  updated_at: ''
};

async function show(
  changes: Partial<PanelViewProps> = {},
  server = emptyServer()
): Promise<{ screen: HTMLElement; props: PanelViewProps; server: FakeServer }> {
  const props: PanelViewProps = {
    panel: handsOn(server),
    sections: [],
    context: null,
    inbox: [],
    notify: true,
    tour: 'closed',
    onTourEnd: vi.fn(),
    onShortcuts: vi.fn(),
    role: 'planner',
    health: READY,
    check: { state: 'idle' },
    model: '',
    canInsert: true,
    draft: '',
    focusRequests: 0,
    onDraft: vi.fn(),
    onNew: vi.fn(),
    onBack: vi.fn(),
    onInsertPlan: vi.fn(),
    onChooseRole: vi.fn(),
    onPickModel: vi.fn(),
    onCheck: vi.fn(),
    ...changes
  };
  const screen = draw(<PanelView {...props} />);
  await calm();
  return { screen, props, server };
}

function emptyServer(): FakeServer {
  const server = new FakeServer();
  server.answers.set('GET context?after=0&limit=100', list());
  return server;
}

describe('the list of conversations', () => {
  it('is asked for again when a notebook was renamed', async () => {
    const server = new FakeServer();
    server.answers.set('GET context?after=0&limit=100', list({ ...SALES, notebook: 'old.ipynb' }));
    const panel = handsOn(server);
    const { screen } = await show({ panel }, server);
    expect(screen.textContent).not.toContain('This notebook');
    server.answers.set('GET context?after=0&limit=100', list(SALES));
    panel.feed.tell({ c1: ['file-moved'] });
    await vi.waitFor(() => expect(screen.textContent).toContain('This notebook'), PATIENCE);
  });
});

describe('what parts bring to the panel', () => {
  it('stands in its place, and is drawn once somebody looks', async () => {
    const section = (order: number, title: string): PanelSection => ({
      order,
      title: () => title,
      name: title.toLowerCase(),
      Body: () => <p>{`All of ${title}`}</p>
    });
    const { screen } = await show({ sections: [section(500, 'Late'), section(1, 'Early')] });
    const titles = [...screen.querySelectorAll('h2')].map(({ textContent }) => textContent);
    expect(titles).toEqual(['Conversations', 'Early', 'Rules', 'Late', 'Model']);
    expect(screen.textContent).not.toContain('All of Late');
    await unfold(one<HTMLDetailsElement>(screen, '[data-part=late]'));
    expect(screen.textContent).toContain('All of Late');
  });
});

describe('the keys of the panel', () => {
  it('show all shortcuts with ?, except where one types', async () => {
    const { screen, props } = await show();
    await pressKey(one(screen, 'textarea'), '?');
    expect(props.onShortcuts).not.toHaveBeenCalled();
    await pressKey(button(screen, 'Planner'), '?');
    expect(props.onShortcuts).toHaveBeenCalledOnce();
  });
});

describe('the tour', () => {
  const tour = (screen: HTMLElement): HTMLElement => one(screen, '[role=dialog]');

  it('goes through four steps beside what they are about, and back', async () => {
    const { screen, props } = await show({ tour: 'open' });
    const seen = [];
    for (let step = 1; step <= 4; step += 1) {
      seen.push([
        one(tour(screen), '.cw-title').textContent,
        one(screen, '[data-toured]').className
      ]);
      expect(tour(screen).textContent).toContain(`${step} of 4`);
      await press(button(tour(screen), step < 4 ? 'Next' : 'Back'));
    }
    expect(seen.map(([title]) => title)).toEqual([
      ...['Roles', 'Plan a change', 'Approve', 'Roll back']
    ]);
    expect(seen[0]?.[1]).toContain('cw-pill');
    expect(seen[1]?.[1]).toContain('cw-composer');
    expect(seen[2]?.[1]).toContain('cw-part');
    expect(one(tour(screen), '.cw-title').textContent).toBe('Approve');
    await press(button(tour(screen), 'Next'));
    await press(button(tour(screen), 'Done'));
    expect(props.onTourEnd).toHaveBeenCalledOnce();
  });

  it('marks what it is about also when that is drawn anew', async () => {
    const { screen } = await show({ tour: 'open' });
    const pill = one(screen, '[data-toured]');
    pill.className = 'cw-pill cw-colour-blue';
    expect(one(screen, '[data-toured]')).toBe(pill);
    const other = pill.cloneNode(true) as HTMLElement;
    other.removeAttribute('data-toured');
    pill.replaceWith(other);
    await vi.waitFor(() => expect(one(screen, '[data-toured]')).toBe(other));
  });

  it('is skipped by its button, and by Escape anywhere in the panel', async () => {
    const { screen, props } = await show({ tour: 'open' });
    await press(button(tour(screen), 'Skip'));
    await pressKey(one(screen, 'textarea'), 'Escape');
    expect(props.onTourEnd).toHaveBeenCalledTimes(2);
  });

  it('takes the keyboard only from those who asked for it', async () => {
    const asked = await show({ tour: 'wanted' });
    expect(document.activeElement).toBe(tour(asked.screen));
    (document.activeElement as HTMLElement).blur();
    await show({ tour: 'open' });
    expect(document.activeElement).toBe(document.body);
  });

  it('is about the overview, and leaves no mark behind', async () => {
    expect((await show()).screen.querySelector('[role=dialog], [data-toured]')).toBeNull();
  });
});

describe('the empty side panel', () => {
  it('says what to do, and does it', async () => {
    const { screen, props } = await show();
    expect(screen.textContent).toContain('No conversations yet');
    expect(screen.textContent).toContain('Write %%plan in a cell');
    await press(button(screen, 'Insert a %%plan cell'));
    expect(props.onInsertPlan).toHaveBeenCalledOnce();
  });

  it('says why no cell can be inserted', async () => {
    const { screen } = await show({ canInsert: false });
    expect(button(screen, 'Insert a %%plan cell').disabled).toBe(true);
    expect(screen.textContent).toContain('Open a notebook first');
  });

  it('shows role and model, and lets the role be chosen', async () => {
    const { screen, props } = await show();
    expect(one(screen, '.cw-head').textContent).toBe('Plannergpt-5-mini');
    await press(button(screen, 'Planner'));
    expect(props.onChooseRole).toHaveBeenCalledOnce();
  });

  it('says that its role is for a new conversation where another is looked at', async () => {
    const { screen } = await show({ isBesideAnother: true });
    expect(one(screen, '.cw-head').textContent).toBe('New conversation:Plannergpt-5-mini');
  });

  it('helps to connect a model when there is none', async () => {
    const notReady = await show({ health: NOT_READY });
    expect(one(notReady.screen, '.cw-note').textContent).toBe('Set COWORK_MODEL first.');
    const { screen } = await show({ health: GUIDE });
    expect(one(screen, '.cw-setup > summary').textContent).toBe('Connect a model server');
  });

  it('claims nothing before the server has answered', async () => {
    const { screen } = await show({ health: null, check: { state: 'busy' } }, new FakeServer());
    expect(screen.querySelector('.cw-note, .cw-setup')).toBeNull();
    expect(screen.textContent).not.toContain('No conversations yet');
    expect(button(screen, 'Checking').getAttribute('aria-busy')).toBe('true');
  });

  it('shows a failure where the user can try again', async () => {
    const error = new CoworkError({
      code: 'unreachable',
      message: 'The Jupyter server does not answer.'
    });
    const { screen, props } = await show({ check: { state: 'failed', error } });
    expect(one(screen, '.cw-answer').textContent).toContain('The Jupyter server does not answer.');
    await press(button(screen, 'Check connection'));
    expect(props.onCheck).toHaveBeenCalledOnce();
  });
});

describe('a new conversation', () => {
  it('begins with what is said, in the chosen role, about this notebook', async () => {
    const server = emptyServer();
    server.answers.set('POST context', SALES);
    server.answers.set('POST context/c1/messages', { message_id: 'm', job_id: 'j1' });
    const { screen, props } = await show({ draft: ' Clean it ', model: 'qwen3' }, server);
    await press(button(screen, 'Send'));
    expect(server.changes.map(({ path, body }) => [path, body])).toEqual([
      ['context', { role: 'planner', notebook: 'a.ipynb', model: 'qwen3' }],
      ['context/c1/messages', { content: 'Clean it' }]
    ]);
    expect(props.onDraft).toHaveBeenCalledWith('');
    expect(props.panel.open).toHaveBeenCalledWith('c1');
  });

  it('is not begun with nothing, and keeps the words when the server refuses', async () => {
    const { screen, server } = await show({ draft: '  ' });
    await press(button(screen, 'Send'));
    expect(server.changes).toEqual([]);
    const { screen: other, props } = await show({ draft: 'Clean it' });
    await press(button(other, 'Send'));
    expect(one(other, '.cw-composer [role=alert]').textContent).toContain('Nothing at context.');
    expect(props.onDraft).not.toHaveBeenCalled();
  });

  it('is sent with Enter, and Shift+Enter makes a line', async () => {
    const server = emptyServer();
    const { screen } = await show({ draft: 'Clean it' }, server);
    const field = one<HTMLTextAreaElement>(screen, 'textarea');
    const enter = (shiftKey: boolean): Promise<void> =>
      act(async () => {
        field.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Enter', shiftKey, bubbles: true })
        );
        await settled();
      });
    await enter(true);
    expect(server.changes).toEqual([]);
    await enter(false);
    expect(server.changes).toHaveLength(1);
  });

  it('gets the keyboard when it is summoned', async () => {
    const { screen } = await show({ draft: 'Plan a change to `a.py`: ', focusRequests: 1 });
    expect(document.activeElement).toBe(one(screen, 'textarea'));
  });
});

describe('an open conversation', () => {
  function serverWith(card = planned()): FakeServer {
    const server = new FakeServer(card);
    server.answers.set('GET context/c1', SALES);
    server.answers.set(
      'GET context/c1/jobs',
      list({
        ...job('j1', { status: card.snapshot.status }),
        context_id: 'c1',
        usage: {},
        tasks: []
      })
    );
    server.answers.set('GET context/c1/checkpoints', list());
    return server;
  }

  it('shows what was said and the plan, and goes on from there', async () => {
    const server = serverWith();
    server.answers.set('POST context/c1/messages', { message_id: 'm', job_id: 'j2' });
    const { screen } = await show({ context: 'c1' }, server);
    expect(one(screen, 'h2').textContent).toBe('Clean sales.csv');
    expect(screen.textContent).toContain('Execute plan');
    await write(one<HTMLTextAreaElement>(screen, '.cw-composer textarea'), 'Only March');
    await press(button(one(screen, '.cw-composer'), 'Send'));
    expect(server.changes).toEqual([
      {
        method: 'POST',
        path: 'context/c1/messages',
        body: { content: 'Only March', role: 'planner', card_id: 'j1' }
      }
    ]);
    expect(one<HTMLTextAreaElement>(screen, '.cw-composer textarea').value).toBe('');
    await server.send(
      event(
        11,
        'job-started',
        { job_id: 'j2', kind: 'message', role: 'planner', card_id: 'j1' },
        { job_id: 'j2' }
      )
    );
    expect(button(one(screen, '.cw-composer'), 'Stop')).toBeTruthy();
    await server.send(event(12, 'text-delta', { text: 'March it is' }, { job_id: 'j2' }));
    expect(screen.textContent).toContain('March it is');
  });

  it('queues what is said while a job runs, visibly, and takes it back', async () => {
    const server = serverWith(runCard({ status: 'running', ended_at: null }));
    server.answers.set('POST context/c1/queue', { id: 'q1', content: 'Only March' });
    server.answers.set('DELETE context/c1/queue/q1', {});
    const panel = handsOn(server);
    const { screen } = await show({ context: 'c1', panel }, server);
    const field = one<HTMLTextAreaElement>(screen, '.cw-composer textarea');
    await write(field, 'Only March');
    server.answers.set('GET context/c1/queue', list({ id: 'q1', content: 'Only March' }));
    field.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true })
    );
    await calm();
    expect(server.changes).toEqual([
      { method: 'POST', path: 'context/c1/queue', body: { content: 'Only March' } }
    ]);
    expect(field.value).toBe('');
    panel.feed.tell({ c1: ['queue-changed'] });
    await vi.waitFor(
      () => expect(one(screen, '.cw-queue').textContent).toContain('Queued: Only March'),
      PATIENCE
    );
    server.answers.set('GET context/c1/queue', list());
    await press(one(screen, '[aria-label="Withdraw: Only March"]'));
    expect(server.changes[1]).toEqual({
      method: 'DELETE',
      path: 'context/c1/queue/q1',
      body: null
    });
    await vi.waitFor(() => expect(one(screen, '.cw-queue').textContent).toBe(''), PATIENCE);
  });

  it('sends what could not be queued because the job has just ended', async () => {
    const server = serverWith(runCard({ status: 'running', ended_at: null }));
    server.answers.set(
      'POST context/c1/queue',
      new CoworkError({ code: 'not_running', message: 'Nothing runs.', status: 409 })
    );
    server.answers.set('POST context/c1/messages', { message_id: 'm', job_id: 'j2' });
    const { screen } = await show({ context: 'c1' }, server);
    await write(one<HTMLTextAreaElement>(screen, '.cw-composer textarea'), 'Only March');
    await press(button(one(screen, '.cw-composer'), 'Queue'));
    expect(server.changes.map(({ path }) => path)).toEqual([
      'context/c1/queue',
      'context/c1/messages'
    ]);
  });

  it('writes to whom the conversation goes on with, also when that was switched elsewhere', async () => {
    const server = serverWith();
    const panel = handsOn(server);
    const { screen } = await show({ context: 'c1', panel }, server);
    server.answers.set('GET context/c1', { ...SALES, role: 'reviewer' });
    panel.feed.tell({ c1: ['role-changed'] });
    await vi.waitFor(
      () => expect(one(screen, '.cw-composer .cw-switcher').textContent).toContain('Reviewer'),
      PATIENCE
    );
  });

  it('leaves older cards out until they are wanted', async () => {
    const server = serverWith();
    const ids = Array.from({ length: 23 }, (_, at) => `j${at + 1}`);
    server.answers.set('GET context/c1/jobs', list(...ids.map(id => job(id, { card_id: id }))));
    const { screen } = await show({ context: 'c1' }, server);
    const shown = (): (string | undefined)[] =>
      [...screen.querySelectorAll<HTMLElement>('.cw-run')].map(run => run.dataset['jobId']);
    expect(shown()).toEqual(ids.slice(3));
    await press(button(screen, 'Show earlier (3 more)'));
    expect(shown()).toEqual(ids);
    expect(screen.textContent).not.toContain('Show earlier');
  });

  it('can be stopped from where one writes', async () => {
    const server = serverWith(runCard({ status: 'running', ended_at: null }));
    server.answers.set('POST jobs/j1/cancel', {});
    const { screen } = await show({ context: 'c1' }, server);
    await press(button(one(screen, '.cw-composer'), 'Stop'));
    expect(server.changes).toEqual([{ method: 'POST', path: 'jobs/j1/cancel', body: null }]);
  });

  it('asks for a job that somebody began elsewhere', async () => {
    const server = serverWith();
    const { screen } = await show({ context: 'c1' }, server);
    const other = runCard(
      { goal: 'From the notebook', status: 'running', ended_at: null, seq: 11 },
      { job_id: 'j2' }
    );
    server.answers.set('GET jobs/j2/card', { card: other, markdown: '' });
    server.answers.set(
      'GET context/c1/jobs',
      list(job('j1'), job('j2', { card_id: 'j2', status: 'running' }))
    );
    await server.send(
      event(
        11,
        'job-started',
        { job_id: 'j2', kind: 'message', role: 'actor', card_id: 'j2' },
        { job_id: 'j2' }
      )
    );
    await calm();
    expect(server.asked.some(({ path }) => path === 'jobs/j2/card?whole=true')).toBe(true);
    expect(button(one(screen, '.cw-composer'), 'Stop')).toBeTruthy();
  });

  it('says so when it was deleted, and leads back', async () => {
    const { screen, props } = await show({ context: 'gone' }, new FakeServer());
    expect(screen.textContent).toContain('This conversation was deleted.');
    await press(button(screen, 'All'));
    expect(props.onBack).toHaveBeenCalledOnce();
  });
});
