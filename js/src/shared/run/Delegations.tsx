import { Fragment, type VNode } from 'preact';
import { useMemo } from 'preact/hooks';

import { StepRow } from '../plan/StepRow';
import { t } from '../translate';
import { Conversation } from './Conversation';
import { aroundDelegations, entriesOfTask, taskStart } from './fold';
import { waitsIn, type Entry, type RunState, type TaskState } from './state';

/** What an agent said, and in between, each in its row, the tasks that it handed to others. */
export function Delegations({ state, entries }: { state: RunState; entries: readonly Entry[] }): VNode {
  const { before, delegated } = useMemo(() => aroundDelegations(state, entries), [state, entries]);
  return (
    <>
      <Conversation entries={before} />
      {delegated.map(({ task, after }, at) => (
        <Fragment key={task.id}>
          <ol class="cw-steps" aria-label={t('Delegated task %1', String(at + 1))}>
            <Delegation state={state} task={task} number={at + 1} />
          </ol>
          <Conversation entries={after} />
        </Fragment>
      ))}
    </>
  );
}

function Delegation({ state, task, number }: { state: RunState; task: TaskState; number: number }): VNode {
  const { id, role, description, status, result } = task;
  const none = { reason: '', tools_needed: [], files: [], depends_on: [], estimated_time: '' };
  const error = task.error ?? (status === 'failed' ? result : null);
  return (
    <StepRow
      step={{ id, step_number: number, action: description, status, ...none }}
      role={role}
      status={waitsIn(state, id) && status === 'running' ? 'waiting' : status}
      task={{ ...task, error, startedAt: taskStart(state, task) }}
      entries={entriesOfTask(state, id)}
      draft={state.drafts[id] ?? null}
      audit={null}
      stoppedJob={null}
      after=""
    />
  );
}
