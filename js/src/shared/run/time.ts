/** Working time, kept as the server keeps it: without waits for the user, without downtime. */

import type { Event } from '../types';
import { secondsBetween } from '../text/format';
import { isFinal, waitsIn, type JobState, type RunState, type TaskState } from './state';

/** Events after which something may work, or not work any more. */
export const TIMED: ReadonlyArray<Event['type']> = [
  'job-started',
  'job-completed',
  'task-started',
  'task-completed',
  'question-asked',
  'question-answered',
  'permission-request',
  'permission-resolved'
];

/** A task works unless it waits for the user; a job, unless all that it does waits. */
export function keepTime(state: RunState, at: string): RunState {
  const tasks = mapValues(state.tasks, task =>
    advance(task, task.status === 'running' && !waitsIn(state, task.id), at)
  );
  const isTaskWorking = Object.values(tasks).some(({ since }) => since !== null);
  const jobs = mapValues(state.jobs, job =>
    advance(job, !isFinal(job.status) && (isTaskWorking || !asks(state, job)), at)
  );
  return { ...state, tasks, jobs };
}

function asks(state: RunState, { id }: JobState): boolean {
  return [...state.questions, ...state.permissions].some(({ job_id }) => job_id === id);
}

export function advance<T extends JobState | TaskState>(one: T, works: boolean, at: string): T {
  if (works === (one.since !== null)) {
    return one;
  }
  return works
    ? { ...one, since: at }
    : { ...one, worked: one.worked + (secondsBetween(one.since, at) ?? 0), since: null };
}

function mapValues<T>(
  values: Readonly<Record<string, T>>,
  change: (value: T) => T
): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
