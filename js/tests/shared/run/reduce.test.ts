import { describe, expect, it } from 'vitest';

import { reduce } from '../../../src/shared/run/reduce';
import { fromCard } from '../../../src/shared/run/snapshot';
import {
  isPlanReady,
  presentJob,
  roleOf,
  statusOf,
  type CallEntry,
  type RunState,
  type TextEntry
} from '../../../src/shared/run/state';
import type { Event } from '../../../src/shared/types';
import {
  event,
  executed,
  job,
  later,
  message,
  PERMISSION,
  plan,
  planned,
  QUESTION,
  runCard,
  step
} from '../../runs';

function after(state: RunState, ...events: Event[]): RunState {
  return events.reduce(reduce, state);
}

const running = (): RunState => fromCard(runCard({ status: 'running', ended_at: null }));
const texts = (state: RunState): string[] =>
  state.entries.filter(entry => entry.kind === 'text').map(entry => (entry as TextEntry).text);
const calls = (state: RunState): CallEntry[] =>
  state.entries.filter(entry => entry.kind === 'call');

describe('the order of events', () => {
  it('ignores what it has seen, so that events may come twice', () => {
    const once = after(running(), event(11, 'text-delta', { text: 'a' }));
    expect(
      after(once, event(11, 'text-delta', { text: 'a' }), event(3, 'text-delta', { text: 'b' }))
    ).toBe(once);
  });

  it('is the same in one go and in several, with repetitions in between', () => {
    const events = [
      event(11, 'text-delta', { text: 'Look' }),
      event(12, 'message', { ...message('text', 'Look') }),
      event(13, 'tool-call', { call_id: 'x', tool: 'read_file', parameters: { path: 'a' } }),
      event(14, 'tool-result', { call_id: 'x', ok: true, summary: 'read a', error: null }),
      event(15, 'usage', { total_tokens: 5, prompt_tokens: 2, completion_tokens: 3 })
    ];
    const repeated = events.flatMap((_, at) => events.slice(0, at + 1));
    expect(after(running(), ...repeated)).toEqual(after(running(), ...events));
  });

  it('goes on over kinds of event that it does not know', () => {
    expect(after(running(), event(11, 'hologram' as never, { a: 1 })).seq).toBe(11);
  });
});

describe('a reply', () => {
  it('streams, and gives way to the stored message', () => {
    const streaming = after(
      running(),
      event(11, 'reasoning-delta', { text: 'Hm' }),
      event(14, 'text-delta', { text: 'Hel' }),
      event(15, 'text-delta', { text: 'lo' })
    );
    expect(Object.values(streaming.drafts)).toMatchObject([
      { text: 'Hello', reasoning: 'Hm', role: 'planner' }
    ]);
    const stored = after(
      streaming,
      event(16, 'message', {
        ...message('text', 'Hello', { data: { reasoning: 'Hm', thought_seconds: 3 } })
      })
    );
    expect(stored.drafts).toEqual({});
    expect(stored.entries).toMatchObject([
      { kind: 'text', text: 'Hello', reasoning: 'Hm', thoughtFor: 3 }
    ]);
  });

  it('is taken back when the model starts over', () => {
    const state = after(
      running(),
      event(11, 'text-delta', { text: 'Hal' }),
      event(12, 'notice', { code: 'restarted', message: 'Lost. Trying again.' })
    );
    expect(state.drafts).toEqual({});
    expect(state.entries).toMatchObject([{ kind: 'notice', text: 'Lost. Trying again.' }]);
  });

  it('has one line for all its attempts, and a new one for the next reply', () => {
    const retry = (seq: number, text: string, task: string | null = null): Event =>
      event(seq, 'notice', { code: 'restarted', message: text }, { task_id: task });
    const once = after(running(), retry(11, 'In 1 s.'), retry(12, 'Other.', 't2'));
    const twice = after(once, retry(13, 'In 2 s.'));
    const lines = (state: RunState): string[] =>
      state.entries.map(entry => (entry.kind === 'notice' ? entry.text : entry.kind));
    expect(lines(once)).toEqual(['In 1 s.', 'Other.']);
    expect(lines(twice)).toEqual(['In 2 s.', 'Other.']);
    const answered = after(twice, event(14, 'message', { ...message('text', 'Hello') }));
    expect(lines(after(answered, retry(15, 'Again.')))).toEqual([
      'In 2 s.',
      'Other.',
      'text',
      'Again.'
    ]);
  });

  it('tells how fast it comes and what is left', () => {
    const left = { turns_left: 27, seconds_left: 290 };
    const state = after(
      running(),
      event(11, 'notice', { code: 'reply_progress', tokens: 40, rate: 9.5, ...left })
    );
    expect(state.pace).toMatchObject({ rate: 9.5, turns_left: 27, seconds_left: 290 });
    expect(state.entries).toEqual([]);
  });

  it('stays, marked, when the job was stopped in the middle of it', () => {
    const half = message('text', 'Half', { data: { cut: 'stopped' } });
    const state = after(
      running(),
      event(11, 'text-delta', { text: 'Half' }),
      event(12, 'message', { ...half }),
      event(13, 'job-completed', { job_id: 'j1', status: 'cancelled', error: null })
    );
    const kept = { kind: 'text', text: 'Half', ended: 'stopped', cut: false };
    expect(state.entries).toMatchObject([kept]);
    expect(state.drafts).toEqual({});
    expect(statusOf(state)).toBe('cancelled');
    expect(fromCard(runCard({ messages: [half] })).entries).toMatchObject([kept]);
  });

  it('is kept apart for each of several steps at once', () => {
    const state = after(
      running(),
      event(11, 'text-delta', { text: 'a' }, { task_id: 't1' }),
      event(12, 'text-delta', { text: 'b' }, { task_id: 't2' })
    );
    expect(Object.values(state.drafts).map(draft => [draft.task, draft.text])).toEqual([
      ['t1', 'a'],
      ['t2', 'b']
    ]);
  });

  it('is not taken from a job that the card does not show', () => {
    const state = after(
      running(),
      event(11, 'text-delta', { text: 'x' }, { job_id: 'other' }),
      event(12, 'message', { ...message('text', 'x', { job_id: 'other' }) }, { job_id: 'other' })
    );
    expect([state.drafts, texts(state)]).toEqual([{}, []]);
  });
});

describe('a tool call', () => {
  const begun = (): RunState =>
    after(
      running(),
      event(11, 'tool-call', {
        call_id: 'x',
        tool: 'execute_command',
        parameters: { command: 'ls' }
      })
    );

  it('is one entry, whether it comes as a message, as an event, or as both', () => {
    const state = after(
      begun(),
      event(12, 'message', {
        ...message('tool_call', '', {
          data: { call_id: 'x', tool: 'execute_command', parameters: { command: 'ls' } }
        })
      }),
      event(13, 'tool-result', { call_id: 'x', ok: true, summary: 'ran ls', error: null }),
      event(14, 'message', {
        ...message('tool_result', 'a.py', {
          role: 'tool',
          data: { call_id: 'x', ok: true, summary: 'ran ls', facts: { diff: '+a' } }
        })
      })
    );
    expect(calls(state)).toMatchObject([
      { ok: true, summary: 'ran ls', result: 'a.py', diff: '+a' }
    ]);
  });

  it('shows its output as it comes, and of much the newest', () => {
    const state = after(
      begun(),
      event(12, 'notice', { code: 'tool-output', call_id: 'x', text: 'a'.repeat(30_000) }),
      event(13, 'notice', { code: 'tool-output', call_id: 'x', text: 'end' })
    );
    const [call] = calls(state);
    expect(call?.output).toHaveLength(20_000);
    expect(call?.output.endsWith('end')).toBe(true);
  });

  it('says why it failed', () => {
    const state = after(
      begun(),
      event(12, 'tool-result', {
        call_id: 'x',
        ok: false,
        summary: '',
        error: { message: 'No such file.' }
      })
    );
    expect(calls(state)).toMatchObject([{ ok: false, summary: 'No such file.' }]);
  });
});

describe('what waits for the user', () => {
  it('makes the run wait, until it is decided', () => {
    const asked = after(running(), event(11, 'permission-request', { ...PERMISSION }));
    expect(statusOf(asked)).toBe('waiting');
    const decided = after(
      asked,
      event(12, 'permission-resolved', {
        id: 'p1',
        decision: 'deny',
        scope: 'once',
        feedback: 'use conda',
        status: 'denied'
      })
    );
    expect(statusOf(decided)).toBe('running');
    expect(decided.entries).toMatchObject([
      {
        kind: 'decision',
        allowed: false,
        text: 'You did not allow: pip install pyarrow — use conda'
      }
    ]);
  });

  it('says where it was decided, if that was in the client of another agent', () => {
    const decided = after(
      running(),
      event(11, 'permission-request', { ...PERMISSION }),
      event(12, 'permission-resolved', {
        id: 'p1',
        decision: 'allow',
        scope: 'once',
        status: 'allowed',
        by: 'claude-code'
      })
    );
    expect(decided.entries).toMatchObject([
      { text: 'You allowed: pip install pyarrow — in claude-code' }
    ]);
  });

  it('leaves no trace of a request that was withdrawn', () => {
    const state = after(
      running(),
      event(11, 'permission-request', { ...PERMISSION }),
      event(12, 'permission-resolved', { id: 'p1', decision: null, status: 'withdrawn' })
    );
    expect([state.permissions, state.entries]).toEqual([[], []]);
  });

  it('finds the question of an answer by its id, whatever the words are', () => {
    const answered = { question_id: 'q1', question: '?', value: 'out', label: 'Leave them out' };
    const asked = message('question', QUESTION.question, { data: { ...QUESTION } });
    const state = after(
      running(),
      event(11, 'message', { ...asked }),
      event(12, 'message', {
        ...message('text', 'qwrt', { role: 'user', data: { answer: answered } })
      })
    );
    expect(state.entries).toMatchObject([{ kind: 'question', answer: 'out' }]);
  });

  it('keeps the answer beside its question', () => {
    const state = after(
      running(),
      event(11, 'message', {
        ...message('question', QUESTION.question, { data: { ...QUESTION } })
      }),
      event(12, 'question-asked', { ...QUESTION }),
      event(13, 'question-answered', { id: 'q1', value: 'out' })
    );
    expect(state.questions).toEqual([]);
    expect(state.entries).toMatchObject([{ kind: 'question', answer: 'out' }]);
  });

  it('lets what was asked wait on when its job is interrupted, and goes when it is stopped', () => {
    const asked = after(
      running(),
      event(11, 'permission-request', { ...PERMISSION }),
      event(12, 'question-asked', { ...QUESTION })
    );
    const ended = (status: string): number[] => {
      const state = after(asked, event(13, 'job-completed', { job_id: 'j1', status }));
      return [state.permissions.length, state.questions.length];
    };
    expect([ended('interrupted'), ended('cancelled')]).toEqual([
      [1, 1],
      [0, 0]
    ]);
  });

  it('is gone when its job is over', () => {
    const state = after(
      running(),
      event(11, 'question-asked', { ...QUESTION }),
      event(12, 'job-completed', { job_id: 'j1', status: 'cancelled' })
    );
    expect(state.questions).toEqual([]);
  });
});

describe('a plan', () => {
  it('is new with a new revision, and then not stale', () => {
    const state = after(
      fromCard(planned({ stale: ['a.csv'] })),
      event(11, 'plan-update', { ...plan(2), revision: 2 }, { job_id: null })
    );
    expect(state).toMatchObject({ revision: 2, stale: [], madeAt: later(11) });
    expect(state.plan?.steps).toHaveLength(2);
  });

  it('of another cell is none of this card, although its steps have the same ids', () => {
    const other = event(
      11,
      'plan-update',
      { ...plan(2, { id: 'p2' }), revision: 1 },
      { job_id: 'j9' }
    );
    const state = after(
      fromCard(planned()),
      other,
      event(
        12,
        'job-started',
        {
          job_id: 'j8',
          kind: 'plan',
          role: 'actor',
          plan_id: 'p2',
          plan_revision: 1,
          card_id: 'j9'
        },
        { job_id: 'j8' }
      ),
      event(
        13,
        'task-completed',
        { task_id: 't1', step_id: '1', status: 'completed' },
        { job_id: 'j8', task_id: 't1' }
      ),
      event(14, 'role-changed', { from: 'planner', to: 'actor' }, { job_id: null }),
      event(
        15,
        'message',
        message('role_change', 'The role is now Actor.', { job_id: null, role: 'system' }),
        { job_id: null }
      )
    );
    expect(state.entries).toEqual(fromCard(planned()).entries);
    expect(state).toMatchObject({ planId: 'p1', revision: 1, follows: ['j1'], tasks: {} });
    expect([state.plan?.steps.length, roleOf(state), isPlanReady(state)]).toEqual([
      3,
      'planner',
      true
    ]);
    expect(after(running(), other).plan).toBeNull();
  });

  it('that was revised after its execution waits for approval again', () => {
    const done = fromCard(
      executed({ tasks: [{ id: 't1', step_id: '1', status: 'completed', result: 'old' }] })
    );
    expect(isPlanReady(done)).toBe(false);
    const state = after(
      done,
      event(
        11,
        'job-started',
        { job_id: 'j3', kind: 'message', role: 'planner', plan_id: 'p1', card_id: 'j1' },
        { job_id: 'j3' }
      ),
      event(12, 'plan-update', { ...plan(2), revision: 2 }, { job_id: 'j3' })
    );
    expect([isPlanReady(state), roleOf(state), state.tasks]).toEqual([true, 'planner', {}]);
  });

  it('keeps the finished steps when the rest was planned anew', () => {
    const half = fromCard(
      executed({
        status: 'failed',
        tasks: [
          { id: 't1', step_id: '1', status: 'completed' },
          { id: 't2', step_id: '2', status: 'failed' }
        ]
      })
    );
    const steps = [step(1, { status: 'completed' }), step(2)];
    const state = after(
      half,
      event(11, 'plan-update', { ...plan(2, { steps }), revision: 2 }, { job_id: 'j2' })
    );
    expect(Object.keys(state.tasks)).toEqual(['1']);
    expect(isPlanReady(state)).toBe(true);
  });

  it('stays as it was executed on the card of its execution', () => {
    const execution = job('j1', { kind: 'plan', role: 'actor', plan_id: 'p1', plan_revision: 1 });
    const card = fromCard(planned({ jobs: [execution] }));
    expect(
      after(card, event(11, 'plan-update', { ...plan(2), revision: 2 }, { job_id: null })).revision
    ).toBe(1);
  });

  it('keeps its age when only the status of a step changes', () => {
    const state = after(
      fromCard(planned({ stale: ['a.csv'] })),
      event(11, 'plan-update', { ...plan(3), revision: 1 })
    );
    expect(state).toMatchObject({ stale: ['a.csv'], madeAt: fromCard(planned()).madeAt });
  });

  it.each([
    [undefined, 'You approved the plan.'],
    ['person', 'You approved the plan.'],
    ['kernel', 'A cell executes the plan.'],
    ['policy', 'A cell executes the plan.']
  ])('is approved by a person only: %s', (by, text) => {
    const data = { approved_revision: 1, ...(by && { by }) };
    const state = after(
      fromCard(planned()),
      event(11, 'message', {
        ...message('text', 'A cell executes the plan.', { role: 'user', data })
      })
    );
    expect(state.entries.at(-1)).toMatchObject({ kind: 'decision', allowed: true, text });
  });

  it('is followed when it is executed, whoever said so', () => {
    const state = after(
      fromCard(planned()),
      event(
        11,
        'job-started',
        {
          job_id: 'j2',
          kind: 'plan',
          role: 'actor',
          plan_id: 'p1',
          plan_revision: 1,
          card_id: 'j2'
        },
        { job_id: 'j2' }
      ),
      event(
        12,
        'message',
        {
          ...message('text', 'Execute', {
            role: 'user',
            job_id: 'j2',
            data: { approved_revision: 1 }
          })
        },
        { job_id: 'j2' }
      ),
      event(
        13,
        'task-started',
        { task_id: 't1', step_id: '1', status: 'running' },
        { job_id: 'j2', task_id: 't1' }
      )
    );
    expect(presentJob(state)).toMatchObject({ id: 'j2', status: 'running' });
    expect(state.tasks['1']).toMatchObject({ id: 't1', status: 'running', since: later(13) });
    expect(roleOf(state)).toBe('actor');
  });
});

describe('jobs', () => {
  it('add up what they cost', () => {
    const state = after(
      running(),
      event(11, 'usage', { total_tokens: 900, cost: 0.01, model: 'gpt-6' }),
      event(12, 'usage', { total_tokens: 100, cost: 0.02 })
    );
    expect(state.usage.total_tokens).toBe(3100);
    expect(state.usage.cost).toBeCloseTo(0.03);
    expect(state.model).toBe('gpt-6');
  });

  it('say that the conversation is busy, although another card started it', () => {
    const busy = after(
      fromCard(planned()),
      event(11, 'job-started', { job_id: 'j9' }, { job_id: 'j9' })
    );
    expect([busy.busy, presentJob(busy)?.id]).toEqual(['j9', 'j1']);
    expect(
      after(
        busy,
        event(12, 'job-completed', { job_id: 'j9', status: 'completed' }, { job_id: 'j9' })
      ).busy
    ).toBeNull();
  });

  it('have something to take back once they have changed files themselves', () => {
    const made = (files: string[], job_id: string | null): RunState =>
      after(
        running(),
        event(
          11,
          'checkpoint-created',
          { id: 'c1', created_at: '', label: '', tool: '', files },
          { job_id }
        )
      );
    expect(made(['a.txt'], 'j1').checkpoints).toBe(1);
    expect(made([], 'j1').checkpoints).toBe(0);
    expect(made(['a.txt'], 'j9').checkpoints).toBe(0);
    expect(made(['a.txt'], null).checkpoints).toBe(0);
  });

  it('go on under their own name when they are resumed', () => {
    const state = after(
      fromCard(runCard({ status: 'failed', error: 'no' })),
      event(11, 'job-started', { job_id: 'j1' })
    );
    expect(presentJob(state)).toMatchObject({
      id: 'j1',
      status: 'running',
      error: null
    });
  });
});

describe('a saved card', () => {
  it('need not know what it has cost', () => {
    expect(
      fromCard(
        runCard({ usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cost: null } })
      ).usage
    ).toEqual({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
    expect(fromCard(runCard({ usage: null })).usage.total_tokens).toBe(0);
  });

  it('with fields missing or of the wrong type still becomes a state', () => {
    const odd = runCard({
      plan: { steps: [{ action: 'x' }, null, 3] } as never,
      questions: [{ id: 'q', options: 'no' }] as never,
      permissions: [{ id: 'p', why: 5, shown: 'x' }] as never
    });
    const state = fromCard(odd);
    expect(state.plan?.steps).toMatchObject([
      { id: '1', action: 'x', tools_needed: [], status: 'pending' }
    ]);
    expect(state.questions).toMatchObject([{ options: [], allow_custom: true }]);
    expect(state.permissions).toMatchObject([{ why: [], scopes: [] }]);
  });
});

describe('durations', () => {
  const inTask = { job_id: 'j1', task_id: 't1' };
  const started = event(
    1,
    'job-started',
    { job_id: 'j1', kind: 'plan', plan_id: 'p1', plan_revision: 1, worked_seconds: 0 },
    { job_id: 'j1' }
  );
  const task = (seq: number, kind: 'task-started' | 'task-completed', more = {}): Event =>
    event(
      seq,
      kind,
      {
        task_id: 't1',
        step_id: '1',
        status: kind === 'task-started' ? 'running' : 'completed',
        ...more
      },
      inTask
    );
  const waits = [
    started,
    task(2, 'task-started'),
    event(5, 'question-asked', { ...QUESTION }, inTask),
    event(205, 'question-answered', { id: QUESTION.id, value: 'x' }, inTask)
  ];
  const fresh = (): RunState => ({ ...fromCard(planned()), seq: 0 });

  it('stand still while everything waits for the user', () => {
    const waiting = after(fresh(), ...waits.slice(0, 3));
    expect(waiting.jobs['j1']).toMatchObject({ worked: 4, since: null });
    expect(waiting.tasks['1']).toMatchObject({ worked: 3, since: null });
    const going = after(waiting, waits[3]!);
    expect(going.jobs['j1']).toMatchObject({ worked: 4, since: later(205) });
    expect(going.tasks['1']).toMatchObject({ worked: 3, since: later(205) });
  });

  it('go on while another step works', () => {
    const other = event(
      3,
      'task-started',
      { task_id: 't2', step_id: '2', status: 'running' },
      { job_id: 'j1', task_id: 't2' }
    );
    const [first, second, asked] = waits;
    const state = after(fresh(), first!, second!, other, asked!);
    expect(state.jobs['j1']).toMatchObject({ worked: 0, since: later(1) });
    expect([state.tasks['1']?.since, state.tasks['2']?.since]).toEqual([null, later(3)]);
  });

  it('are in the end what the server stored, as after a reload', () => {
    const facts = { job_id: 'j1', status: 'completed', worked_seconds: 6.5 };
    const state = after(
      fresh(),
      ...waits,
      task(207, 'task-completed', { worked_seconds: 5.2 }),
      event(208, 'job-completed', facts, { job_id: 'j1' })
    );
    const reloaded = fromCard(
      planned({
        jobs: [job('j1', { kind: 'plan', plan_id: 'p1', plan_revision: 1, worked_seconds: 6.5 })],
        tasks: [{ id: 't1', job_id: 'j1', step_id: '1', status: 'completed', worked_seconds: 5.2 }]
      })
    );
    for (const { jobs, tasks } of [state, reloaded]) {
      expect(jobs['j1']).toMatchObject({ worked: 6.5, since: null });
      expect(tasks['1']).toMatchObject({ worked: 5.2, since: null });
    }
  });

  it('leave out the time in which no server ran', () => {
    const stopped = { job_id: 'j1', status: 'interrupted', worked_seconds: 3 };
    const resumed = { job_id: 'j1', status: 'running', worked_seconds: 3 };
    const state = after(
      fresh(),
      started,
      event(900, 'job-completed', stopped, { job_id: 'j1' }),
      event(1000, 'job-started', resumed, { job_id: 'j1' })
    );
    expect(state.jobs['j1']).toMatchObject({ worked: 3, since: later(1000) });
  });

  it('are whole seconds of work in a card of an older version', () => {
    expect(fromCard(runCard()).jobs['j1']).toMatchObject({ worked: 9, since: null });
  });
});
