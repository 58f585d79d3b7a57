import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { CoworkError } from '../../../src/shared/channel/channel';
import type { RunCardData } from '../../../src/shared/types';
import { RunActions } from '../../../src/shared/run/actions';
import { RunStore } from '../../../src/shared/run/store';
import { roleOf, type TextEntry } from '../../../src/shared/run/state';
import {
  event,
  executed,
  FakeServer,
  job,
  message,
  PERMISSION,
  plan,
  planned,
  runCard,
  settled,
  step
} from '../../runs';
import { PATIENCE } from '../../screen';

async function opened(server: FakeServer, card: RunCardData = server.card!): Promise<RunStore> {
  const store = new RunStore(server, card);
  await store.open();
  return store;
}

const running = (): RunCardData => runCard({ status: 'running', ended_at: null });

describe('opening a run', () => {
  it('only reads, whatever the card holds', async () => {
    const server = new FakeServer(planned());
    await opened(server);
    expect(server.changes).toEqual([]);
  });

  it('shows what the server says, not what the notebook says', async () => {
    const server = new FakeServer(planned());
    const forged = planned({
      plan: plan(1, { goal: 'Something harmless' }),
      permissions: [PERMISSION]
    });
    const store = new RunStore(server, forged);
    expect(store.trusted).toBe(false);
    await store.open();
    expect(store.trusted).toBe(true);
    expect(store.state.plan?.goal).toBe('Chart revenue');
    expect(store.state.permissions).toEqual([]);
  });

  it('takes the whole plan, where the card had room for a part of it only', async () => {
    const server = new FakeServer(planned({ plan: plan(2) }));
    server.answers.set('GET context/c1/plan?plan_id=p1', {
      plan: plan(60),
      revision: 1,
      made_at: null,
      stale: ['a']
    });
    const store = await opened(server);
    expect(store.state.plan?.steps).toHaveLength(60);
    expect(store.state.stale).toEqual(['a']);
  });

  it('takes whole messages in place of shortened ones, and keeps what came meanwhile', async () => {
    const cut = message('text', 'Begin…', { cut: true });
    const server = new FakeServer(runCard({ messages: [cut], left_out: 3 }));
    server.answers.set('GET context/c1/messages?after=0&limit=1000', {
      items: [
        message('text', 'First'),
        { ...cut, ...message('text', 'Beginning and end'), id: cut.id }
      ],
      next: null
    });
    const store = await opened(server);
    expect(store.state.entries.map(entry => (entry as TextEntry).text)).toEqual([
      'First',
      'Beginning and end'
    ]);
    expect(store.state.leftOut).toBe(0);
  });

  it('listens from where the card ends', async () => {
    const server = new FakeServer(running());
    await opened(server);
    expect(server.after).toBe(10);
  });

  it('does not count again what the server has counted, though it hears of it again', async () => {
    const server = new FakeServer(running());
    server.seq = 12;
    const store = await opened(server);
    const spent = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };
    const changed = { id: 'cp', files: ['a.csv'] };
    await server.send(event(11, 'usage', spent), event(12, 'checkpoint-created', changed));
    expect(store.state).toMatchObject({ usage: { total_tokens: 2100 }, checkpoints: 0 });
    await server.send(event(13, 'usage', spent), event(14, 'checkpoint-created', changed));
    expect(store.state).toMatchObject({ usage: { total_tokens: 2105 }, checkpoints: 1 });
  });

  it('is a record where nobody knows the run', async () => {
    const store = await opened(new FakeServer(null), planned());
    expect([store.link, store.trusted]).toEqual(['record', false]);
  });

  it('is a record of how the run stands where the notebook is a copy, and listens to nothing', async () => {
    const server = new FakeServer(planned());
    server.copiedFrom = 'sales.ipynb';
    const store = new RunStore(server, running(), () => 'a copy.ipynb');
    await store.open();
    expect(server.asked.map(({ path }) => path)).toEqual([
      'jobs/j1/card?whole=true&notebook=a%20copy.ipynb'
    ]);
    expect([store.link, store.trusted, store.copiedFrom]).toEqual(['record', false, 'sales.ipynb']);
    expect([store.state.plan?.goal, server.subscriptions]).toEqual(['Chart revenue', 0]);
  });

  it('becomes a record when the conversation is deleted', async () => {
    const server = new FakeServer(planned());
    const store = await opened(server);
    server.listener?.state('gone');
    expect([store.link, store.trusted]).toEqual(['record', false]);
  });

  it('does without requests that it may not see, as in a kernel', async () => {
    const server = new FakeServer(runCard({ status: 'running', permissions: [PERMISSION] }));
    server.answers.set(
      'GET context/c1/permissions',
      new CoworkError({ code: 'forbidden', message: 'No.', status: 403 })
    );
    expect((await opened(server)).state.permissions).toMatchObject([{ id: 'p1' }]);
  });

  it('shows all jobs of its card as the server knows them', async () => {
    const server = new FakeServer(
      executed({
        status: 'running',
        ended_at: null,
        tasks: [{ id: 't1', step_id: '1', status: 'running' }]
      })
    );
    server.answers.set('GET context/c1/jobs', {
      items: [job('j1'), job('j2', { status: 'running' })],
      next: null
    });
    const store = await opened(server, planned());
    expect(store.state.follows).toEqual(['j1', 'j2']);
    expect(store.state).toMatchObject({ busy: 'j2', tasks: { '1': { status: 'running' } } });
    expect(roleOf(store.state)).toBe('actor');
  });

  it('asks once for all that it shows, also for what is shown beside the run', async () => {
    const server = new FakeServer(planned());
    server.answers.set('GET context/c1/audit?job_id=j1', { steps: [] });
    server.answers.set('GET context/c1/reproduce', { reproduction: null, notebook: 'n.ipynb' });
    const store = await opened(server);
    const actions = new RunActions(server, store);
    await expect(actions.audit()).resolves.toEqual({ steps: [] });
    await expect(actions.reproduction()).resolves.toMatchObject({ notebook: 'n.ipynb' });
    expect(server.asked.map(({ path }) => path)).toEqual(['jobs/j1/card?whole=true']);
  });

  it('shows what was summarised before the page was opened', async () => {
    const server = new FakeServer(planned());
    const seen = { id: 'notice-4', job_id: 'j1', task_id: null, at: '2026-01-01T00:00:00Z' };
    server.summaries = [{ ...seen, message: 'Summarised 9 messages.', text: 'The mean is 4.' }];
    const store = await opened(server);
    await server.send(
      event(11, 'notice', { code: 'history_summary', message: 'More.', text: 'Again.' })
    );
    const lines = store.state.entries.filter(entry => entry.kind === 'notice');
    expect(lines).toMatchObject([
      { text: 'Summarised 9 messages.', detail: 'The mean is 4.' },
      { text: 'More.', detail: 'Again.' }
    ]);
  });

  it('asks again once something has happened since, and only then', async () => {
    const server = new FakeServer(planned());
    server.answers.set('GET jobs/j1/card?whole=true', {
      ...{ card: planned(), markdown: '' },
      state: {
        ...{
          seq: 12,
          busy: null,
          messages: null,
          plan: null,
          checkpoints: 0,
          decisions: [],
          effects: [],
          setAside: null,
          summaries: []
        },
        ...{ questions: [], permissions: [], reproduction: null, audit: { steps: [] } }
      }
    });
    server.answers.set('GET context/c1/audit?job_id=j1', { steps: ['newer'] });
    const store = await opened(server);
    const actions = new RunActions(server, store);
    await server.send(event(11, 'usage'), event(12, 'usage'));
    await expect(actions.audit()).resolves.toEqual({ steps: [] });
    await server.send(event(13, 'usage'));
    await expect(actions.audit()).resolves.toEqual({ steps: ['newer'] });
  });
});

describe('a server that is away', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is asked again, and the card says so meanwhile', async () => {
    const server = new FakeServer(planned());
    const away = new CoworkError({ code: 'unreachable', message: 'Away.', retryable: true });
    server.answers.set('GET jobs/j1/card', away);
    const store = await opened(server);
    expect([store.link, store.trusted]).toEqual(['reconnecting', false]);
    server.answers.delete('GET jobs/j1/card');
    await vi.advanceTimersByTimeAsync(1000);
    expect([store.link, store.trusted]).toEqual(['live', true]);
  });

  it('is left alone once the card is gone', async () => {
    const server = new FakeServer(planned());
    server.answers.set(
      'GET jobs/j1/card',
      new CoworkError({ code: 'unreachable', message: 'Away.' })
    );
    const store = await opened(server);
    store.close();
    const asked = server.asked.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.asked).toHaveLength(asked);
  });
});

describe('events', () => {
  it('are drawn once a frame, however many there are', async () => {
    const server = new FakeServer(running());
    const store = await opened(server);
    let drawn = 0;
    store.onChange(() => (drawn += 1));
    for (let seq = 11; seq < 1011; seq += 1) {
      server.listener?.event(event(seq, 'text-delta', { text: 'x' }));
    }
    expect(drawn).toBe(0);
    await settled();
    expect(drawn).toBe(1);
    expect(Object.values(store.state.drafts)[0]?.text).toHaveLength(1000);
  });

  it('come in a hidden tab too, where no frame is drawn', async () => {
    vi.stubGlobal('requestAnimationFrame', () => 0);
    const server = new FakeServer(running());
    const store = await opened(server);
    server.listener?.event(event(11, 'text-delta', { text: 'x' }));
    await vi.waitFor(() => expect(store.state.seq).toBe(11), PATIENCE);
    vi.unstubAllGlobals();
  });

  it('need not be numbered without a gap: what was streamed is joined once it is stored', async () => {
    const server = new FakeServer(running());
    const store = await opened(server);
    server.listener?.event(event(11, 'text-delta', { text: 'a' }));
    server.listener?.event(event(14, 'text-delta', { text: 'bcd' }));
    await settled();
    expect(server.subscriptions).toBe(1);
    expect(Object.values(store.state.drafts).map(({ text }) => text)).toEqual(['abcd']);
  });

  it('of a job that was started on this card are shown from the first', async () => {
    const server = new FakeServer(planned());
    const store = await opened(server);
    server.answers.set('POST x', { job_id: 'j2' });
    await store.start(() => server.request('POST', 'x'));
    server.listener?.event(
      event(
        11,
        'job-started',
        { job_id: 'j2', kind: 'message', role: 'planner', card_id: 'j1' },
        { job_id: 'j2' }
      )
    );
    server.listener?.event(event(12, 'text-delta', { text: 'a' }, { job_id: 'j2' }));
    await settled();
    expect(store.state.follows).toEqual(['j1', 'j2']);
    expect(Object.values(store.state.drafts)[0]?.text).toBe('a');
  });

  it('are not taken any more once the card is gone', async () => {
    const server = new FakeServer(running());
    const store = await opened(server);
    const { listener } = server;
    store.close();
    expect(server.listener).toBeNull();
    listener?.event(event(11, 'text-delta', { text: 'x' }));
    await settled();
    expect(store.state.seq).toBe(10);
  });
});

describe('a newer card in the notebook', () => {
  it('is shown where nobody else knows more', async () => {
    const store = await opened(new FakeServer(null), planned());
    store.takeSaved(planned({ plan: plan(1, { steps: [step(1, { status: 'completed' })] }) }));
    expect(store.state.plan?.steps).toHaveLength(1);
  });

  it('does not overrule the server', async () => {
    const store = await opened(new FakeServer(planned()));
    store.takeSaved(planned({ plan: plan(1) }));
    expect(store.state.plan?.steps).toHaveLength(3);
  });
});
