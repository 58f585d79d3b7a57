import { Fragment, type VNode } from 'preact';

import { StepRow } from '../plan/StepRow';
import { t } from '../text/translate';
import { Conversation } from './Conversation';
import { entriesOfTask, segments } from './grouping';
import { waitsIn, type Entry, type RunState, type TaskState } from './state';

/** The agent's words, with a row for each delegated task in between. */
export function Delegations({
  state,
  entries
}: {
  state: RunState;
  entries: readonly Entry[];
}): VNode {
  return (
    <>
      {segments(state, entries).map(({ task, after }, at) => (
        <Fragment key={task?.id}>
          {task && (
            <ol class="cw-steps" aria-label={t('Delegated task %1', String(at))}>
              <Delegation state={state} task={task} number={at} />
            </ol>
          )}
          <Conversation entries={after} />
        </Fragment>
      ))}
    </>
  );
}

function Delegation({
  state,
  task,
  number
}: {
  state: RunState;
  task: TaskState;
  number: number;
}): VNode {
  const { id, role, description, status, result } = task;
  const none = {
    reason: '',
    tools_needed: [],
    files: [],
    depends_on: [],
    estimated_time: '',
    expects: [],
    role: null,
    agent: '',
    rounds: 0
  };
  const error = task.error ?? (status === 'failed' ? result : null);
  return (
    <StepRow
      step={{ id, step_number: number, action: description, status, ...none }}
      role={role}
      status={waitsIn(state, id) && status === 'running' ? 'waiting' : status}
      task={{ ...task, error }}
      entries={entriesOfTask(state, id)}
      earlier={[]}
      draft={state.drafts[id] ?? null}
      audit={null}
      stoppedJob={null}
      after=""
    />
  );
}
