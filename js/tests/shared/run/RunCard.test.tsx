import { act } from 'preact/test-utils';
import { describe, expect, it, vi } from 'vitest';

import { CoworkError } from '../../../src/shared/channel/channel';
import type { RunCardData } from '../../../src/shared/types';
import { RunCard } from '../../../src/shared/run/RunCard';
import {
  event,
  executed,
  FakeServer,
  job,
  later,
  message,
  PERMISSION,
  plan,
  planned,
  QUESTION,
  runCard,
  settled,
  step
} from '../../runs';
import { PLANNER } from '../../samples';
import { button, click, draw, one, PATIENCE } from '../../screen';

async function show(
  card: RunCardData,
  server = new FakeServer(card)
): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const screen = draw(<RunCard card={card} channel={server} />);
  await act(settled);
  return { screen, server };
}

async function write(field: HTMLInputElement | HTMLTextAreaElement, text: string): Promise<void> {
  await act(async () => {
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

const buttons = (screen: HTMLElement): (string | undefined)[] =>
  [...screen.querySelectorAll('button')].map(({ textContent }) => textContent ?? '');

const RUNNING = { status: 'running', ended_at: null, role: 'actor' } as const;

describe('a run card', () => {
  it('says who acts, how it stands, and what it has cost', async () => {
    const { screen } = await show(
      runCard({
        usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 5800, cost: 0.0123 }
      })
    );
    expect(one(screen, '.cw-pill').textContent).toBe('Planner');
    expect(one(screen, '.cw-head').textContent).toContain('Completed');
    expect(one(screen, '.cw-figures').textContent).toContain(
      '9 s · gpt-5-mini · 5.8k tokens · $0.012'
    );
  });

  it('shows a reply while it streams, then as it was stored', async () => {
    const { screen, server } = await show(runCard({ ...RUNNING, role: 'planner' }));
    expect(one(screen, '.cw-head').textContent).toContain('Working…');
    await server.send(event(11, 'text-delta', { text: 'Half the **dates**' }));
    expect(one(screen, '.cw-tail').textContent).toBe('Half the **dates**');
    await server.send(event(12, 'message', { ...message('text', 'Half the **dates** are wrong') }));
    expect(screen.querySelector('.cw-tail')).toBeNull();
    expect(one(screen, '.cw-md strong').textContent).toBe('dates');
    expect(one(screen, '.cw-said .cw-pill').textContent).toBe('Planner');
  });

  it('says how fast the model writes and what is left, while it runs', async () => {
    const { screen, server } = await show(runCard(RUNNING));
    const left = { turns_left: 27, seconds_left: 290 };
    await server.send(
      event(11, 'notice', { code: 'reply_progress', tokens: 40, rate: 9.5, ...left })
    );
    const figures = (): string => one(screen, '.cw-figures').textContent ?? '';
    expect(figures()).toContain('9.5 tokens/s · 27 turns and 4:50 of waiting left');
    await server.send(
      event(12, 'job-completed', { job_id: 'j1', status: 'completed', error: null })
    );
    expect(figures()).not.toContain('tokens/s');
  });

  it('opens what was summarised', async () => {
    const { screen, server } = await show(runCard(RUNNING));
    const summary = { message: 'Summarised 9 messages.', text: 'The mean is 4.25.' };
    await server.send(
      event(11, 'notice', { code: 'history_summary', last: 'm1', count: 9, ...summary })
    );
    const fold = one<HTMLDetailsElement>(screen, '.cw-fold');
    expect(fold.textContent).toBe('Summarised 9 messages.');
    await act(async () => {
      fold.open = true;
      fold.dispatchEvent(new Event('toggle'));
    });
    expect(fold.textContent).toContain('The mean is 4.25.');
  });

  it("shows what a commander delegated, each in its row, between the commander's own words", async () => {
    const role = 'commander';
    const said = (text: string): ReturnType<typeof message> =>
      message('text', text, { agent_role: role });
    const assigned = (
      task_id: string,
      agent_role: 'planner' | 'tester' | 'reviewer' | 'actor',
      text: string
    ): ReturnType<typeof message> =>
      message('task_assignment', text, { role: 'user', task_id, agent_role });
    const call = (call_id: string): ReturnType<typeof message> =>
      message('tool_call', '', {
        agent_role: role,
        data: { call_id, tool: 'delegate', parameters: {} }
      });
    const answered = (call_id: string, ok: boolean, code = ''): ReturnType<typeof message> =>
      message('tool_result', '', {
        role: 'tool',
        data: {
          call_id,
          ok,
          summary: 'The call',
          ...(ok ? {} : { error: { code, message: 'No' } })
        }
      });
    const messages = [
      said('First a plan.'),
      ...[
        call('1'),
        assigned('t1', 'planner', 'Plan the nests'),
        message('text', 'I think of nests', { task_id: 't1' }),
        answered('1', true)
      ],
      said('Now the work.'),
      ...[
        call('2'),
        assigned('t2', 'actor', 'Write the nests'),
        answered('2', false, 'delegate_failed')
      ],
      ...[call('3'), answered('3', false, 'delegation_denied')],
      said('That is all.')
    ];
    const task = (id: string, at: number, changes: object): object => ({
      id,
      job_id: 'j1',
      step_id: `delegation-${at}`,
      ...changes
    });
    const tasks = [
      task('t1', 1, {
        role: 'planner',
        description: 'Plan the nests',
        status: 'completed',
        result: 'Three **nests**'
      }),
      task('t2', 2, {
        role: 'actor',
        description: 'Write the nests',
        status: 'failed',
        result: 'The disk is full'
      })
    ] as RunCardData['snapshot']['tasks'];
    const { screen, server } = await show(
      runCard({ role, messages, tasks, jobs: [job('j1', { role })] }, { role })
    );
    expect(one(screen, '.cw-head .cw-pill').textContent).toBe('Commander');
    const rows = (): (string | null)[] =>
      [...screen.querySelectorAll('.cw-step')].map(({ textContent }) => textContent);
    expect(rows()[0]).toContain('PlannerPlan the nestsThree nests');
    expect(rows()[1]).toContain('ActorWrite the nests');
    expect(rows()[1]).toContain('The disk is full');
    const words = screen.textContent ?? '';
    const order = [
      'First a plan.',
      'Plan the nests',
      'Now the work.',
      'Write the nests',
      'That is all.'
    ].map(text => words.indexOf(text));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    // The one that was refused has no row.
    expect(screen.querySelectorAll('.cw-call')).toHaveLength(1);
    expect(words).not.toContain('I think of nests');
    const second = {
      task_id: 't3',
      step_id: 'delegation-1',
      role: 'tester',
      description: 'Count the nests',
      status: 'running'
    };
    await server.send(
      event(
        11,
        'job-started',
        { job_id: 'j2', kind: 'message', role, card_id: 'j1' },
        { job_id: 'j2' }
      ),
      event(12, 'task-started', second, { job_id: 'j2', task_id: 't3' })
    );
    expect(rows()).toHaveLength(3); // another job's first delegation takes nobody's place
    expect(rows().some(row => row?.includes('TesterCount the nests'))).toBe(true);
  });

  it('offers a cell to copy that it could not put into a notebook which another program has open', async () => {
    const parameters = { path: 'n.ipynb', source: 'x = 1', cell_type: 'code' };
    const error = {
      code: 'open_elsewhere',
      message: "'n.ipynb' is open in another program.",
      details: { notebook: 'n.ipynb' }
    };
    const messages = [
      message('tool_call', '', { data: { call_id: 'c', tool: 'insert_cell', parameters } }),
      message('tool_result', '', {
        role: 'tool',
        data: { call_id: 'c', ok: false, summary: error.message, error }
      })
    ];
    const { screen } = await show(runCard({ messages, role: 'actor' }));
    expect(one(screen, '.cw-proposed pre').textContent).toBe('x = 1');
    expect(one(screen, '.cw-proposed').textContent).toContain(
      'Copy it into the notebook, or run %cowork insert there.'
    );
    expect(one(screen, '.cw-proposed button').getAttribute('aria-label')).toBe('Copy the cell');
  });

  it('keeps thoughts and what was read folded up until somebody looks', async () => {
    const read = (path: string): ReturnType<typeof message>[] => [
      message('tool_call', '', {
        data: { call_id: path, tool: 'read_file', parameters: { path } }
      }),
      message('tool_result', 'text of it', {
        role: 'tool',
        data: { call_id: path, ok: true, summary: `read ${path}` }
      })
    ];
    const { screen } = await show(
      runCard({
        messages: [
          message('text', '', { data: { reasoning: 'Secret doubts' } }),
          ...read('a.py'),
          ...read('b.py')
        ]
      })
    );
    expect(screen.textContent).toContain('Looked at 2 files');
    expect(screen.textContent).not.toContain('Secret doubts');
    const folds = [...screen.querySelectorAll('details')];
    expect(folds.map(({ open }) => open)).toEqual([false, false]);
    await act(async () => {
      for (const fold of folds) {
        fold.open = true;
        fold.dispatchEvent(new Event('toggle'));
      }
    });
    expect(screen.textContent).toContain('Secret doubts');
    expect(screen.textContent).toContain('read a.py');
  });

  it('shows the output of a tool as it comes', async () => {
    const { screen, server } = await show(runCard(RUNNING));
    await server.send(
      event(11, 'tool-call', {
        call_id: 'x',
        tool: 'execute_command',
        parameters: { command: 'make' }
      }),
      event(12, 'notice', { code: 'tool-output', call_id: 'x', text: '1 of 3' })
    );
    expect(one(screen, '.cw-output').textContent).toBe('1 of 3');
    expect(one(screen, '.cw-call-line').textContent).toContain('Run a command make');
    await act(async () => {
      const fold = one<HTMLDetailsElement>(screen, '.cw-call details');
      fold.open = true;
      fold.dispatchEvent(new Event('toggle'));
    });
    expect(one(screen, '.cw-facts').textContent).toContain('execute_command');
  });

  it('can be stopped while it runs, and only then', async () => {
    const { screen, server } = await show(runCard(RUNNING));
    server.answers.set('POST jobs/j1/cancel', {});
    await click(button(screen, 'Stop'));
    expect(server.changes).toEqual([{ method: 'POST', path: 'jobs/j1/cancel', body: null }]);
    await server.send(event(11, 'job-completed', { job_id: 'j1', status: 'cancelled' }));
    expect(buttons(screen)).not.toContain('Stop');
    expect(one(screen, '.cw-head').textContent).toContain('Stopped');
  });

  it('says why it failed and what to do next', async () => {
    const { screen, server } = await show(
      runCard({
        status: 'failed',
        error: 'The model does not answer.',
        messages: [message('error', 'The model does not answer.', { role: 'system' })]
      })
    );
    expect(screen.textContent?.split('The model does not answer.')).toHaveLength(2);
    expect(one(screen, '.cw-error').textContent).toContain('“Continue” resumes');
    server.answers.set('POST jobs/j1/resume', {});
    await click(button(screen, 'Continue'));
    expect(server.changes).toEqual([{ method: 'POST', path: 'jobs/j1/resume', body: null }]);
  });

  it('says why a reply that was only thought was rejected', async () => {
    const data = { reasoning: 'Hm', problem: 'The reply was empty.' };
    const { screen } = await show(runCard({ messages: [message('text', '', { data })] }));
    expect(one(screen, '.cw-said').textContent).toContain('The reply was empty.');
  });

  it('goes on with what was said last, when the plan is done and only that has failed', async () => {
    const done = executed({ plan: plan(1, { steps: [step(1, { status: 'completed' })] }) });
    const said = job('j3', { role: 'actor', status: 'failed', error: 'no' });
    const { screen, server } = await show({
      ...done,
      snapshot: { ...done.snapshot, jobs: [...(done.snapshot.jobs ?? []), said] }
    });
    expect(one(screen, '.cw-error').textContent).toContain('“Continue” resumes');
    server.answers.set('POST jobs/j3/resume', {});
    await click(button(screen, 'Continue'));
    expect(server.changes).toEqual([{ method: 'POST', path: 'jobs/j3/resume', body: null }]);
  });

  it('leads to the new plan when a run has failed and was planned anew', async () => {
    const error = 'Step 2 failed: the file is locked';
    const { screen } = await show(executed({ status: 'failed', error, revision: 2 }));
    expect(one(screen, '.cw-head').textContent).toContain('Plan ready');
    expect(one(screen, '.cw-error').textContent).toBe(
      `${error}“Execute plan” continues with the new plan; finished steps are not repeated.`
    );
    expect(buttons(screen)).toContain('Execute plan');
    expect(buttons(screen)).not.toContain('Continue');
  });

  it('draws nothing but text of what others wrote', async () => {
    const bad = '<img src=x onerror="alert(1)"><script>alert(1)</script>\u202Eevil';
    const { screen } = await show(
      runCard({
        ...RUNNING,
        goal: bad,
        model: bad,
        plan: plan(1, {
          goal: bad,
          risks: [bad],
          prerequisites: [bad],
          estimated_total_time: bad,
          steps: [
            step(1, {
              action: bad,
              reason: bad,
              tools_needed: [bad],
              files: [bad],
              estimated_time: bad
            })
          ]
        }),
        messages: [
          message('text', bad),
          message('review', '', {
            data: {
              summary: bad,
              verdict: bad,
              findings: [{ file: bad, severity: bad, comment: bad, suggestion: bad }]
            }
          }),
          message('tool_call', '', {
            data: { call_id: 'x', tool: bad, parameters: { [bad]: bad } }
          })
        ],
        questions: [
          {
            ...QUESTION,
            question: bad,
            context: bad,
            options: [{ label: bad, value: bad, description: bad }]
          }
        ],
        permissions: [
          {
            ...PERMISSION,
            tool: bad,
            resource: bad,
            why: [bad],
            rules: [bad],
            shown: { kind: 'command', text: bad, complete: false },
            uncovered: [bad]
          }
        ]
      })
    );
    expect(screen.querySelector('img, script')).toBeNull();
    expect(screen.textContent).not.toContain('\u202E');
    expect(screen.textContent).toContain('⟨U+202E⟩');
  });
});

describe('a record', () => {
  it('says what it is, from when, and has nothing to click', async () => {
    const { screen } = await show(
      planned({ left_out: 4, permissions: [PERMISSION], questions: [QUESTION] }),
      new FakeServer(null)
    );
    expect(screen.textContent).toMatch(/A record from .*; not live here\./);
    expect(screen.textContent).toContain('4 older messages are not in this record.');
    expect(screen.textContent).toContain(
      'Was waiting for an answer: Run a command: pip install pyarrow'
    );
    expect(screen.textContent).toContain('Do thing 3');
    expect(buttons(screen)).toEqual([]);
  });

  it('tells who asked and what they decided, as text', async () => {
    const decision = {
      id: 'p1',
      job_id: 'j1',
      task_id: null,
      what: '<b>rm</b>',
      allowed: false,
      feedback: 'no',
      at: later(1)
    };
    const { screen } = await show(
      planned({ asked_by: 'ada', decisions: [decision] }),
      new FakeServer(null)
    );
    expect(screen.textContent).toContain('Asked by ada.');
    expect(screen.textContent).toContain('You did not allow: <b>rm</b> — no');
    expect(buttons(screen)).toEqual([]);
  });

  it.each([
    [undefined, true],
    ['person' as const, true],
    ['kernel' as const, false]
  ])('says that a plan was approved if a person did: %s', async (by, isSaid) => {
    const execution = job('j1', {
      kind: 'plan',
      plan_id: 'p1',
      plan_revision: 1,
      ...(by && { by })
    });
    const { screen } = await show(planned({ jobs: [execution] }), new FakeServer(null));
    expect(screen.textContent.includes('Plan, revision 1: approved.')).toBe(isSaid);
  });

  it('is what every card is until the server has answered', async () => {
    const server = new FakeServer(planned());
    server.answers.set(
      'GET jobs/j1/card',
      new CoworkError({ code: 'unreachable', message: 'Away.' })
    );
    const { screen } = await show(planned({ permissions: [PERMISSION] }), server);
    expect(buttons(screen)).toEqual([]);
    expect(screen.textContent).toContain('Reconnecting…');
  });
});

describe('what waits for the user', () => {
  it('does not take the focus, but is announced', async () => {
    const { screen, server } = await show(runCard(RUNNING));
    const stop = button(screen, 'Stop');
    stop.focus();
    await server.send(event(11, 'question-asked', { ...QUESTION }));
    expect(document.activeElement).toBe(stop);
    await vi.waitFor(
      () =>
        expect(one(screen, '[aria-live="polite"].cw-sr').textContent).toBe(
          'Waiting for you: What about rows without region?'
        ),
      PATIENCE
    );
  });

  it('leaves the focus in the card when it is decided', async () => {
    const { screen, server } = await show(runCard({ ...RUNNING, questions: [QUESTION] }));
    server.answers.set('POST questions/q1/answer', {});
    const option = button(screen, 'Leave out');
    option.focus();
    await click(option);
    await server.send(event(11, 'question-answered', { id: 'q1', value: 'out' }));
    expect(screen.querySelector('.cw-option')).toBeNull();
    expect(screen.contains(document.activeElement)).toBe(true);
  });

  it('a question: options as buttons, the suggested one marked, own words where allowed', async () => {
    const { screen, server } = await show(runCard({ ...RUNNING, questions: [QUESTION] }));
    expect(
      [...screen.querySelectorAll('.cw-option')].map(({ textContent }) => textContent)
    ).toEqual(['Show as unknownsuggestedTotals stay right', 'Leave out']);
    expect(screen.textContent).toContain('Question · minor');
    server.answers.set('POST questions/q1/answer', {});
    await write(one<HTMLInputElement>(screen, '.cw-write input'), ' as NA ');
    await click(button(screen, 'Answer'));
    expect(server.changes.at(-1)).toEqual({
      method: 'POST',
      path: 'questions/q1/answer',
      body: { value: 'as NA' }
    });
  });

  it('own words are sent by Enter too', async () => {
    const { screen, server } = await show(runCard({ ...RUNNING, questions: [QUESTION] }));
    server.answers.set('POST questions/q1/answer', {});
    const field = one<HTMLInputElement>(screen, '.cw-write input');
    await write(field, 'as NA');
    await act(
      async () =>
        void field.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true })
        )
    );
    expect(server.changes.at(-1)).toEqual({
      method: 'POST',
      path: 'questions/q1/answer',
      body: { value: 'as NA' }
    });
  });

  it('a question without own words has no place for them', async () => {
    const { screen } = await show(
      runCard({ ...RUNNING, questions: [{ ...QUESTION, allow_custom: false }] })
    );
    expect(screen.querySelector('.cw-write')).toBeNull();
  });

  it('shows a refusal of the server where the user clicked', async () => {
    const { screen, server } = await show(runCard({ ...RUNNING, questions: [QUESTION] }));
    server.answers.set(
      'POST questions/q1/answer',
      new CoworkError({
        code: 'not_waiting',
        message: 'This question is not open any more.',
        status: 409
      })
    );
    await click(button(screen, 'Leave out'));
    expect(one(screen, '[role=alert] .cw-result').textContent).toBe(
      'This question is not open any more.'
    );
  });

  it('tells who decides too late that it was decided elsewhere', async () => {
    const questions = [QUESTION];
    const card = runCard({
      ...RUNNING,
      ...{
        questions,
        permissions: [PERMISSION],
        messages: [message('question', '', { data: QUESTION })]
      }
    });
    const { screen, server } = await show(card);
    const late = new CoworkError({ code: 'not_waiting', message: 'No longer open.', status: 409 });
    server.answers.set('POST permissions/p1', late);
    expect(screen.textContent).not.toContain('elsewhere');
    await click(button(screen, 'Deny'));
    await server.send(event(11, 'permission-resolved', { id: 'p1', decision: 'allow' }));
    expect(screen.textContent).toContain('Answered elsewhere.');
    await click(button(screen, 'Show as unknown'));
    await server.send(event(12, 'question-answered', { id: 'q1', value: 'out' }));
    expect(screen.textContent).not.toContain('elsewhere');
  });

  it('tells who answers a question too late that it was answered elsewhere', async () => {
    const messages = [message('question', '', { data: QUESTION })];
    const { screen, server } = await show(runCard({ ...RUNNING, questions: [QUESTION], messages }));
    const late = new CoworkError({ code: 'not_waiting', message: 'No longer open.', status: 409 });
    server.answers.set('POST questions/q1/answer', late);
    await click(button(screen, 'Show as unknown'));
    await server.send(event(11, 'question-answered', { id: 'q1', value: 'out' }));
    expect(screen.textContent).toContain('Answered elsewhere.');
  });

  it('a permission: what, why, the whole of it, and only the scopes on offer with the rule they write', async () => {
    const { screen, server } = await show(
      runCard({ ...RUNNING, permissions: [{ ...PERMISSION, uncovered: ['big.bin'] }] })
    );
    expect(one(screen, 'pre').textContent).toBe('pip install pyarrow');
    expect(screen.textContent).toContain('Run a command');
    expect(screen.textContent).toContain('medium risk');
    expect(screen.textContent).toContain('It is not in the plan.');
    expect(screen.textContent).toContain('Rolling back cannot undo: big.bin');
    expect(screen.textContent).toContain('writes the rule execute_command(pip install)');
    expect(buttons(screen)).toEqual(
      expect.arrayContaining(['Allow once', 'This session', 'Deny', 'Deny, and say why…'])
    );
    expect(buttons(screen)).not.toContain('Everywhere');
    server.answers.set('POST permissions/p1', {});
    await click(button(screen, 'This session'));
    expect(server.changes).toEqual([
      { method: 'POST', path: 'permissions/p1', body: { decision: 'allow', scope: 'session' } }
    ]);
  });

  it('a refusal can carry a reason', async () => {
    const { screen, server } = await show(runCard({ ...RUNNING, permissions: [PERMISSION] }));
    server.answers.set('POST permissions/p1', {});
    await click(button(screen, 'Deny, and say why'));
    expect(document.activeElement, 'one can write at once').toBe(one(screen, '.cw-write input'));
    const field = one<HTMLInputElement>(screen, '.cw-write input');
    await write(field, 'use conda');
    await act(
      async () =>
        void field.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true })
        )
    );
    expect(server.changes).toEqual([
      {
        method: 'POST',
        path: 'permissions/p1',
        body: { decision: 'deny', scope: 'once', feedback: 'use conda' }
      }
    ]);
  });

  it('several permissions are decided together, those that are ticked', async () => {
    const requests = ['p1', 'p2', 'p3'].map(id => ({ ...PERMISSION, id }));
    const { screen, server } = await show(
      runCard({
        ...RUNNING,
        permissions: [...requests.slice(0, 2), { ...requests[2]!, scopes: ['once' as const] }]
      })
    );
    expect(buttons(screen)).not.toContain('This session');
    server.answers.set('POST permissions', {});
    await act(async () =>
      screen.querySelectorAll<HTMLInputElement>('input[type=checkbox]')[1]?.click()
    );
    await click(button(screen, 'Allow these once'));
    expect(server.changes).toEqual([
      {
        method: 'POST',
        path: 'permissions',
        body: { ids: ['p1', 'p3'], decision: 'allow', scope: 'once' }
      }
    ]);
  });
});

describe('the role', () => {
  const roles = { items: [PLANNER, { ...PLANNER, name: 'actor', label: 'Actor' }], next: null };

  it('can be changed from the keyboard, and a running job is not stopped without asking', async () => {
    const { screen, server } = await show(runCard(RUNNING));
    server.answers.set('GET roles', roles);
    server.answers.set(
      'POST context/c1/role',
      new CoworkError({ code: 'confirmation_required', message: 'A job runs.', status: 409 })
    );
    await click(one(screen, '.cw-pill-button'));
    expect(document.activeElement?.getAttribute('aria-checked')).toBe('true');
    await act(async () => {
      document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true })
      );
    });
    expect(document.activeElement?.textContent).toContain('Planner');
    await click(document.activeElement as HTMLElement);
    expect(screen.textContent).toContain('switching to Planner stops it');
    server.answers.set('POST context/c1/role', {});
    await click(button(screen, 'Switch and stop'));
    expect(server.changes.map(({ body }) => body)).toEqual([
      { role: 'planner' },
      { role: 'planner', confirm: true }
    ]);
    expect(screen.textContent).not.toContain('stops it');
  });

  it('closes its menu on Escape and gives the focus back', async () => {
    const { screen, server } = await show(runCard());
    server.answers.set('GET roles', roles);
    const pill = one(screen, '.cw-pill-button');
    await click(pill);
    expect(one(screen, '[role=menu]').contains(document.activeElement)).toBe(true);
    await act(async () => {
      document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
      );
    });
    expect(screen.querySelector('[role=menu]')).toBeNull();
    expect(document.activeElement).toBe(pill);
  });
});

describe('a job whose role was switched since', () => {
  const ACTOR = { ...PLANNER, name: 'actor', label: 'Actor' };
  const REVIEWER = { ...PLANNER, name: 'reviewer', label: 'Reviewer' };
  const changed = new CoworkError({
    code: 'role_changed',
    message: 'The role has changed.',
    status: 409,
    details: { job_role: 'actor', current_role: 'reviewer' }
  });

  async function stopped(): Promise<{ screen: HTMLElement; server: FakeServer }> {
    const card = runCard({ status: 'cancelled', role: 'actor' });
    const server = new FakeServer(card);
    server.currentRole = 'reviewer';
    server.answers.set('GET roles', { items: [PLANNER, ACTOR, REVIEWER], next: null });
    server.answers.set('POST jobs/j1/resume', changed);
    return show(card, server);
  }

  it.each(['Reviewer', 'Actor'])('goes on as %s once the user has chosen', async label => {
    const { screen, server } = await stopped();
    await click(button(screen, 'Continue'));
    expect(one(screen, '[role=alertdialog]').textContent).toContain('The role has changed.');
    server.answers.set('POST jobs/j1/resume', {});
    await click(button(screen, `Continue as ${label}`));
    expect(server.changes.map(({ body }) => body)).toEqual([null, { role: label.toLowerCase() }]);
    expect(screen.querySelector('[role=alertdialog]')).toBeNull();
  });

  it('does not go on if the user would rather not', async () => {
    const { screen, server } = await stopped();
    await click(button(screen, 'Continue'));
    await click(button(screen, 'Cancel'));
    expect(screen.querySelector('[role=alertdialog]')).toBeNull();
    expect(server.changes).toHaveLength(1);
  });

  it('is shown beside the role of the conversation, which the switcher names', async () => {
    const { screen, server } = await stopped();
    const pills = (): (string | null)[] =>
      [...one(screen, '.cw-head').querySelectorAll('.cw-pill')].map(pill => pill.textContent);
    expect(pills()).toEqual(['Actor', 'Reviewer']);
    expect(one(screen, '.cw-switcher').textContent).toBe('Reviewer');
    await server.send(
      event(99, 'role-changed', { from: 'reviewer', to: 'actor' }, { job_id: null })
    );
    expect(pills()).toEqual(['Actor']);
    expect(one(screen, '.cw-switcher').textContent).toBe('Actor');
  });

  it('is asked about for a step that is tried again, too', async () => {
    const tasks = [
      { id: 't1', step_id: '1', role: 'actor' as const, status: 'failed' as const, error: 'no' }
    ];
    const { screen, server } = await show(executed({ status: 'failed', error: 'no', tasks }));
    server.answers.set('POST jobs/j2/tasks/t1/retry', changed);
    await click(button(screen, 'Try again'));
    server.answers.set('POST jobs/j2/tasks/t1/retry', {});
    await click(one(screen, '[role=alertdialog] button'));
    expect(server.changes.map(({ body }) => body)).toEqual([null, { role: 'reviewer' }]);
  });
});

describe('a cell that has run before', () => {
  const AGAIN = { content: 'Show revenue', role: 'planner', notebook: 'a.ipynb' };

  it('sends nothing by itself, and on request the same again', async () => {
    const card = { ...runCard(), again: AGAIN };
    const { screen, server } = await show(card);
    expect(server.changes).toEqual([]);
    server.answers.set('POST context/c1/messages', { message_id: 'm', job_id: 'j2' });
    await click(button(screen, 'Run again'));
    expect(server.changes).toEqual([
      {
        method: 'POST',
        path: 'context/c1/messages',
        body: { content: 'Show revenue', role: 'planner', card_id: 'j1' }
      }
    ]);
    expect(screen.textContent).not.toContain('This cell has run before.');
  });

  it('can start anew, in a conversation of its own', async () => {
    const card = { ...runCard({ messages: [message('text', 'Old words')] }), again: AGAIN };
    const { screen, server } = await show(card);
    server.answers.set('POST context', { id: 'c2' });
    server.answers.set('POST context/c2/messages', { message_id: 'm', job_id: 'j2' });
    server.answers.set('GET jobs/j2/card', {
      card: runCard(
        { status: 'running', ended_at: null, started_at: later(1) },
        { context_id: 'c2', job_id: 'j2' }
      ),
      markdown: ''
    });
    for (const what of ['jobs', 'permissions', 'questions', 'messages?after=0&limit=1000']) {
      server.answers.set(`GET context/c2/${what}`, { items: [], next: null });
    }
    server.answers.set('GET context/c2/plan', {
      plan: null,
      revision: 0,
      made_at: null,
      stale: []
    });
    await click(button(screen, 'Start over'));
    await act(settled);
    expect(server.changes.map(({ path, body }) => [path, body])).toEqual([
      ['context', { notebook: 'a.ipynb', role: 'planner' }],
      ['context/c2/messages', { content: 'Show revenue', role: 'planner' }]
    ]);
    expect(screen.textContent).not.toContain('Old words');
    expect(screen.textContent).toContain('Working…');
  });
});
