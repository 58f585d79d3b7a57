/** A saved card becomes a state again, so that a record and a live run are drawn by the same code. */

import type { Job, RunCardData, RunSnapshot, Task } from '../protocol';
import { withMessage } from './messages';
import { addedUsage, permissionOf, planOf, questionOf, usageOf } from './reading';
import { follow } from './reduce';
import { emptyRun, isFinal, type JobState, type RunState, type TaskState } from './state';

export function fromCard(card: RunCardData): RunState {
  const empty = emptyRun(card.context_id, card.job_id, card.role);
  const { snapshot } = card;
  const state = (snapshot.messages ?? []).reduce(withMessage, {
    ...empty,
    seq: snapshot.seq ?? 0,
    jobs: { [card.job_id]: jobOf(card.job_id, snapshot) },
    busy: isFinal(snapshot.status) ? null : card.job_id,
    role: snapshot.role || card.role,
    model: snapshot.model,
    goal: snapshot.goal || card.title,
    leftOut: snapshot.left_out ?? 0,
    plan: snapshot.plan && planOf(snapshot.plan as unknown as Record<string, unknown>),
    revision: snapshot.revision,
    madeAt: snapshot.made_at,
    stale: snapshot.stale ?? [],
    tasks: tasksOf(snapshot.tasks ?? []),
    questions: (snapshot.questions ?? []).map(one => questionOf({ ...one })),
    permissions: (snapshot.permissions ?? []).map(one => permissionOf({ ...one })),
    usage: usageOf(snapshot.usage)
  });
  return (card.jobs ?? []).reduce(follow, state);
}

/** Adds a job as the server has it now; with its card, when it is not the one this state was made from. */
export function withJob(state: RunState, job: Job, card: RunCardData | null): RunState {
  const other = card && fromCard(card);
  const known = new Set(state.entries.map(entry => entry.id));
  const { id, status, error, created_at, completed_at } = job;
  return {
    ...follow(state, id),
    // Who acts now is who acts in the newest of them: the planner's plan is carried out by the actor.
    role: other?.role ?? state.role,
    seq: other ? Math.min(state.seq, other.seq) : state.seq,
    entries: [...state.entries, ...(other?.entries ?? []).filter(entry => !known.has(entry.id))],
    leftOut: state.leftOut + (other?.leftOut ?? 0),
    jobs: { ...state.jobs, [id]: { id, status, error, startedAt: created_at, endedAt: completed_at } },
    tasks: { ...state.tasks, ...tasksOf(job.tasks) },
    usage: other ? addedUsage(state.usage, usageOf(job.usage)) : state.usage,
    ...(other?.plan && other.revision > state.revision ? newerPlan(other) : {})
  };
}

function newerPlan({ plan, revision, madeAt, stale }: RunState): Partial<RunState> {
  return { plan, revision, madeAt, stale };
}

function jobOf(id: string, snapshot: RunSnapshot): JobState {
  return { id, status: snapshot.status, error: snapshot.error, startedAt: snapshot.started_at, endedAt: snapshot.ended_at };
}

function tasksOf(tasks: readonly Task[]): Record<string, TaskState> {
  return Object.fromEntries(
    tasks.map(task => [
      task.step_id,
      {
        id: task.id,
        status: task.status,
        error: task.error ?? null,
        result: task.result ?? null,
        // All tasks are made when the job begins; when each was begun, its first message says.
        startedAt: null,
        endedAt: task.completed_at ?? null
      }
    ])
  );
}
