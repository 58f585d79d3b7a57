import { describe, expect, it } from 'vitest';

import { entriesOfTask, fold, mainEntries, readsSentence } from '../../../src/shared/run/grouping';
import { withMessage } from '../../../src/shared/run/messages';
import { fromCard, messageOf } from '../../../src/shared/run/snapshot';
import type { CallEntry, RunState } from '../../../src/shared/run/state';
import type { Message } from '../../../src/shared/types';
import { executed, job, message, planned, runCard } from '../../runs';

let count = 0;

function saved(...facts: Parameters<typeof message>): Message {
  return messageOf(message(...facts));
}

function call(
  state: RunState,
  tool: string,
  parameters: Record<string, string>,
  task_id: string | null = null
): RunState {
  const call_id = `call${++count}`;
  const asked = withMessage(
    state,
    saved('tool_call', '', { task_id, data: { call_id, tool, parameters } })
  );
  return withMessage(
    asked,
    saved('tool_result', '', { task_id, role: 'tool', data: { call_id, ok: true, summary: tool } })
  );
}

describe('what was only looked at', () => {
  it('becomes one line, up to where something else was done', () => {
    let state = fromCard(runCard());
    for (const path of ['a', 'b', 'a']) {
      state = call(state, 'read_file', { path });
    }
    state = call(state, 'inspect_variable', { name: 'df' });
    state = call(state, 'describe_table', { path: 'b' });
    state = call(state, 'update_file', { path: 'a' });
    state = call(state, 'grep', { pattern: 'x' });
    const blocks = fold(state.entries);
    expect(blocks.map(({ kind }) => kind)).toEqual(['reads', 'call', 'reads']);
    expect(readsSentence((blocks[0] as { calls: CallEntry[] }).calls)).toBe(
      'Looked at 2 files and 1 variable'
    );
    expect(readsSentence((blocks[2] as { calls: CallEntry[] }).calls)).toBe('Searched: 1 search');
  });

  it('is not folded away when it failed', () => {
    const asked = withMessage(
      fromCard(runCard()),
      saved('tool_call', '', { data: { call_id: 'f', tool: 'read_file', parameters: {} } })
    );
    const failed = withMessage(
      asked,
      saved('tool_result', '', { data: { call_id: 'f', ok: false, error: { message: 'no' } } })
    );
    expect(fold(failed.entries)).toMatchObject([{ kind: 'call', ok: false }]);
  });
});

describe('where things stand', () => {
  it('what belongs to a step stands with the step', () => {
    const state = call(
      call(
        fromCard(planned({ tasks: [{ id: 't1', step_id: '1', status: 'running' }] })),
        'run_cell',
        {},
        't1'
      ),
      'run_cell',
      {}
    );
    expect(mainEntries(state).filter(({ kind }) => kind === 'call')).toHaveLength(1);
    expect(entriesOfTask(state, 't1')).toHaveLength(1);
  });

  it('what the agent of a step was told is never shown, also when the plan no longer has that step', () => {
    const told = saved('task_assignment', 'Your task is step 1', {
      job_id: 'j2',
      task_id: 'gone',
      role: 'user'
    });
    expect(
      mainEntries(withMessage(fromCard(executed()), told)).filter(
        ({ kind }) => kind === 'assignment'
      )
    ).toEqual([]);
    const delegated = { ...told, id: 'other', job_id: 'j1' };
    expect(
      mainEntries(withMessage(fromCard(executed()), delegated)).filter(
        ({ kind }) => kind === 'assignment'
      )
    ).toHaveLength(1);
  });

  it('what stopped a job is not shown once it has gone on', () => {
    const stopped = saved('error', 'The disk is full.', { role: 'system' });
    expect(mainEntries(withMessage(fromCard(runCard()), stopped))).toEqual([]);
    const failed = withMessage(fromCard(runCard({ status: 'failed', error: 'Again.' })), stopped);
    expect(mainEntries(failed)).toEqual([]);
    const check = withMessage(fromCard(runCard({ jobs: [job('j1', { kind: 'check' })] })), stopped);
    expect(mainEntries(check)).toHaveLength(1);
  });

  it('what the agent is told of a rejected reply is shown with it only, also when it was empty', () => {
    const problem = 'The reply was empty.';
    const told = `Your last reply was not usable. ${problem} Reply again.`;
    const rejected = (task_id: string | null): RunState =>
      [
        saved('text', '', { task_id, data: { problem } }),
        saved('text', told, { task_id, role: 'system' })
      ].reduce((all, one) => withMessage(all, one), fromCard(runCard()));
    const shown = [{ from: 'assistant', text: '', problem }];
    expect(mainEntries(rejected(null))).toMatchObject(shown);
    expect(entriesOfTask(rejected('t1'), 't1')).toMatchObject(shown);
  });

  it('the goal is not said twice', () => {
    const state = withMessage(
      fromCard(runCard()),
      saved('text', 'Show revenue ', { role: 'user' })
    );
    expect(mainEntries(state)).toEqual([]);
  });
});
