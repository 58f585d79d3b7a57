import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';

import { CoworkError } from '../../../src/shared/channel/channel';
import type { RunCardData } from '../../../src/shared/types';
import { RunCard } from '../../../src/shared/run/RunCard';
import { event, FakeServer, later, message, runCard, settled } from '../../runs';
import { button, click, draw, one } from '../../screen';

const PATH = 'context/c1/reproduce';
const IDLE = { reproduction: null, notebook: 'sales.ipynb' };
const AT_WORK = {
  notebook: 'sales.ipynb',
  reproduction: { ran: 2, cells: 12, notebook: 'sales.ipynb', job_id: 'k1' }
};
const FOUND = {
  runs: true,
  failed: null,
  cells: 12,
  ran: 12,
  hidden: [],
  seconds: 3.4,
  notebook: 'sales.ipynb',
  left_out: 0,
  job_id: 'j1'
};

function server(card: RunCardData, answer: unknown): FakeServer {
  const made = new FakeServer(card);
  made.answers.set(`GET ${PATH}`, answer);
  made.answers.set(`POST ${PATH}`, AT_WORK);
  return made;
}

/** A card whose work has run a cell, or tried to. */
function ran(ok = true): RunCardData {
  const messages = [
    message('tool_call', '', { data: { call_id: 'c', tool: 'run_cell', parameters: {} } }),
    message('tool_result', '', { role: 'tool', data: { call_id: 'c', ok, summary: '' } })
  ];
  return runCard({ messages });
}

async function show(
  answer: unknown,
  card = ran()
): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const made = server(card, answer);
  const screen = draw(<RunCard card={card} channel={made} />);
  await act(settled); // the run
  await act(settled); // then the check
  return { screen, server: made };
}

function found(changes: Record<string, unknown>, at = later(20)): ReturnType<typeof message> {
  const words = 'Tried in a new kernel.';
  return message('text', words, {
    role: 'system',
    agent_role: null,
    created_at: at,
    data: { reproduction: { ...FOUND, ...changes } }
  });
}

/** That there is news of the check, and the answer to the question that follows from it. */
async function news(
  server: FakeServer,
  seq: number,
  type: 'job-started' | 'notice' | 'job-completed',
  data: object
): Promise<void> {
  await server.send({ ...event(seq, type, { job_id: 'k1', ...data }), job_id: 'k1' });
  await act(settled);
}

function begins(server: FakeServer, seq: number, card = 'j1'): Promise<void> {
  return news(server, seq, 'job-started', {
    status: 'running',
    kind: 'check',
    role: 'actor',
    card_id: card
  });
}

function goesOn(server: FakeServer, seq: number): Promise<void> {
  return news(server, seq, 'notice', { code: 'reproduction', ran: 5, cells: 12 });
}

function ends(server: FakeServer, seq: number, status: string): Promise<void> {
  return news(server, seq, 'job-completed', { status });
}

describe('checking that the notebook still runs', () => {
  it('is offered only where cells were run or changed', async () => {
    const offers = async (card: RunCardData): Promise<boolean> =>
      (await show(IDLE, card)).screen.textContent?.includes('Check that it runs…') ?? false;
    expect(await offers(ran())).toBe(true);
    expect(await offers(ran(false))).toBe(false);
    expect(await offers(runCard())).toBe(false);
  });

  it('says what will happen, and begins only on the second click', async () => {
    const { screen, server } = await show(IDLE);
    await click(button(screen, 'Check that it runs…'));
    expect(screen.textContent).toContain(
      'All code cells of sales.ipynb run from top to bottom in a second kernel.'
    );
    expect(server.changes).toEqual([]);
    server.answers.set(`GET ${PATH}`, AT_WORK);
    await click(button(screen, 'Run all cells'));
    expect(server.changes).toEqual([{ method: 'POST', path: PATH, body: { job_id: 'j1' } }]);
    await begins(server, 11);
    expect(one(screen, '[role=status].cw-bar').textContent).toContain(
      'Running cell 3 of 12 of sales.ipynb in a second kernel…'
    );
    // The card is about the run, not its check.
    expect(one(screen, '.cw-run').textContent).toContain('Completed');
    expect(screen.textContent).not.toContain('Discuss…');
  });

  it('goes on counting, and can be stopped', async () => {
    const { screen, server } = await show(IDLE);
    server.answers.set(`GET ${PATH}`, {
      ...AT_WORK,
      reproduction: { ...AT_WORK.reproduction, ran: 5 }
    });
    await begins(server, 11);
    await goesOn(server, 12);
    expect(screen.textContent).toContain('Running cell 6 of 12');
    await click(button(screen, 'Stop the check'));
    expect(server.changes.map(({ path }) => path)).toEqual(['jobs/k1/cancel']);
    server.answers.set(`GET ${PATH}`, IDLE);
    await ends(server, 13, 'cancelled');
    expect(screen.textContent).not.toContain('second kernel…');
    expect(button(screen, 'Check that it runs…')).toBeTruthy();
  });

  it('shows what was found: that it runs, or where it does not, and what the kernel hides', async () => {
    const { screen, server } = await show(IDLE);
    await server.send(event(11, 'message', { ...found({}) }));
    expect(one(screen, '.cw-checked').textContent).toBe(
      'sales.ipynb runs from top to bottom: 12 code cells in 3.4 s.'
    );
    const failed = { cell: 3, line: 2, error: "NameError: name 'x' is not defined" };
    const hidden = [{ cell: 3, message: "It uses 'x', which no cell defines." }];
    await server.send(
      event(12, 'message', { ...found({ runs: false, failed, hidden, left_out: 1 }, later(30)) })
    );
    const checks = [...screen.querySelectorAll('.cw-checked')];
    expect(checks).toHaveLength(1);
    expect(checks[0]?.textContent).toContain(
      "sales.ipynb does not run from top to bottom: cell 3, line 2: NameError: name 'x' is " +
        'not defined'
    );
    expect(checks[0]?.textContent).toContain('1 cell for the agent was skipped.');
    expect(checks[0]?.textContent).toContain("Cell 3: It uses 'x', which no cell defines.");
  });

  it('says why it could not be tried', async () => {
    const { screen, server } = await show(IDLE);
    await begins(server, 11);
    const why = 'There is no kernel to run it.';
    await server.send({
      ...event(12, 'message', {
        ...message('error', why, {
          role: 'system',
          agent_role: null,
          job_id: 'k1',
          created_at: later(20)
        })
      }),
      job_id: 'k1'
    });
    await news(server, 13, 'job-completed', { status: 'failed', error: why });
    expect(screen.textContent?.split(why)).toHaveLength(2);
    expect(one(screen, '.cw-run').textContent).toContain('Completed');
  });

  it('is drawn from a saved card as well, whatever there was room for', async () => {
    const { screen } = await show(
      IDLE,
      runCard({
        messages: [found({ hidden: null, failed: { cell: 2 }, runs: false, cells: undefined })]
      })
    );
    expect(one(screen, '.cw-checked').textContent).toContain('cell 2');
  });

  it('is not offered where there is no notebook, or nobody who could run it', async () => {
    const gone = new CoworkError({ code: 'not_found', message: 'Nothing.', status: 404 });
    for (const answer of [{ reproduction: null, notebook: null }, gone]) {
      const { screen } = await show(answer);
      expect(screen.textContent).not.toContain('Check that it runs…');
    }
  });

  it("leaves another card's check to that card, and says why one could not begin", async () => {
    const other = await show(AT_WORK);
    await begins(other.server, 11, 'j9');
    expect(other.screen.textContent).not.toContain('Running cell');
    expect(other.screen.textContent).not.toContain('Discuss…');
    const { screen, server } = await show(IDLE);
    server.answers.set(
      `POST ${PATH}`,
      new CoworkError({ code: 'job_running', message: 'A job is running.', status: 409 })
    );
    await click(button(screen, 'Check that it runs…'));
    await click(button(screen, 'Run all cells'));
    expect(screen.textContent).toContain('A job is running.');
  });
});
