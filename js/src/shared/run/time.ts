/** Working time, kept as the server keeps it: without waits for the user, without downtime. */

import { secondsBetween } from '../text/format';
import { isFinal, waitsIn, type JobState, type RunState, type TaskState } from './state';

/** A task works unless it waits for the user; a job, unless all that it does waits. */
export function keepTime(state: RunState, at: string): RunState {
  const tasks = mapValues(state.tasks, task =>
    advance(task, task.status === 'running' && !waitsIn(state, task.id), at)
  );
  const isTaskWorking = Object.values(tasks).some(({ since }) => since);
  const waiting = [...state.questions, ...state.permissions].map(({ job_id }) => job_id);
  const jobs = mapValues(state.jobs, job =>
    advance(job, !isFinal(job.status) && (isTaskWorking || !waiting.includes(job.id)), at)
  );
  return { ...state, tasks, jobs };
}

function advance<T extends JobState | TaskState>(one: T, works: boolean, at: string): T {
  return works === Boolean(one.since)
    ? one
    : {
        ...one,
        worked: one.worked + Number(secondsBetween(one.since, at)),
        since: works ? at : null
      };
}

function mapValues<T>(
  values: Readonly<Record<string, T>>,
  change: (value: T) => T
): Record<string, T> {
  const changed = { ...values };
  for (const key in changed) {
    changed[key] = change(changed[key]!);
  }
  return changed;
}
