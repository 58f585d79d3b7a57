/** The run card's reducer. */

import type { Event, EventOf, Message, Plan } from '../types';
import { mergeGuidance } from './guidance';
import {
  changeCall,
  MAX_OUTPUT,
  outcome,
  withAnswer,
  withCall,
  withDecision,
  withEffect,
  withEntry,
  withMessage
} from './messages';
import { text } from '../channel/values';
import { addedUsage, permissionOf, planOf, questionOf, usageOf } from './parse';
import {
  roleOf,
  taskKey,
  type Draft,
  type JobState,
  type LineEntry,
  type RunState,
  type TaskState
} from './state';
import { keepTime } from './time';

/**
 * Idempotent: known events are ignored. Gaps in `seq` are normal, because the server merges
 * streamed pieces; channels guarantee that nothing else is missing.
 */
export function reduce(state: RunState, event: Event): RunState {
  if (event.seq <= state.seq) {
    return state;
  }
  const next = { ...state, seq: event.seq };
  const isFollowed = event.job_id === null || state.follows.includes(event.job_id);
  const reduced =
    reduceContextEvent(next, event) ?? (isFollowed ? reduceJobEvent(next, event) : next);
  return event.type.endsWith('delta') ? reduced : keepTime(reduced, event.created_at);
}

/** Events that concern every card of the conversation: role and running job. */
function reduceContextEvent(state: RunState, event: Event): RunState | null {
  switch (event.type) {
    case 'plan-update':
      return withPlan(state, event);
    case 'job-started':
      return startJob(state, event);
    case 'job-completed':
      return endJob(state, event);
    case 'role-changed':
      return withCurrentRole(state, event.data.to);
    case 'message': {
      const message = event.data;
      // The conversation's own messages, such as a change of role, are on no card.
      const isOurs = message.job_id !== null && state.follows.includes(message.job_id);
      return isOurs ? withMessage(settleDraft(state, message), message) : state;
    }
    default:
      return null;
  }
}

function reduceJobEvent(state: RunState, event: Event): RunState {
  const isSummed = event.seq <= state.summedTo;
  switch (event.type) {
    case 'text-delta':
      return grow(state, event, 'text');
    case 'reasoning-delta':
      return grow(state, event, 'reasoning');
    case 'tool-call':
      return withCall(state, event.data, placeOf(state, event));
    case 'tool-result':
      return changeCall(state, event.data.call_id, () => outcome(event.data));
    case 'permission-request': {
      const { job_id, task_id, data } = event;
      const request = permissionOf({ job_id, task_id, ...data });
      return {
        ...state,
        permissions: [...state.permissions.filter(({ id }) => id !== request.id), request]
      };
    }
    case 'permission-resolved':
      return resolvePermission(state, event);
    case 'question-asked': {
      const question = { ...questionOf(event.data), job_id: event.job_id, task_id: event.task_id };
      return {
        ...state,
        questions: [...state.questions.filter(({ id }) => id !== question.id), question]
      };
    }
    case 'question-answered': {
      const { id, value } = event.data;
      return withAnswer(
        { ...state, questions: state.questions.filter(question => question.id !== id) },
        id,
        value ?? null
      );
    }
    case 'task-started':
    case 'task-completed':
      return withTask(state, event);
    case 'checkpoint-created':
      // A rollback also creates a checkpoint, without a job: this card changed nothing.
      return !isSummed && event.job_id !== null && (event.data.files ?? []).length > 0
        ? { ...state, checkpoints: state.checkpoints + 1 }
        : state;
    case 'data-effect':
      return withEffect(state, event.data);
    case 'guidance-used':
      return { ...state, guidance: mergeGuidance(state.guidance, event.data.items) };
    case 'usage':
      return {
        ...state,
        usage: isSummed ? state.usage : addedUsage(state.usage, usageOf(event.data)),
        model: event.data.model || state.model
      };
    case 'notice':
      return withNotice(state, event);
    default:
      return state;
  }
}

/** What was chosen on a card counts until something else is, here or elsewhere. */
function withCurrentRole(state: RunState, role: string): RunState {
  const chosenRole = state.chosenRole === role ? role : null;
  return { ...state, currentRole: role, chosenRole };
}

function withPlan(state: RunState, { data, created_at, job_id }: EventOf<'plan-update'>): RunState {
  const { revision } = data;
  const isNew = revision !== state.revision || state.plan === null;
  if (!isOurPlan(state, data.id, job_id, isNew)) {
    return state;
  }
  const plan = planOf(data);
  const fresh = {
    planId: plan.id,
    madeAt: created_at,
    stale: [],
    tasks: finishedOf(plan, state.tasks)
  };
  const tasks = withSentBack(plan, state.tasks);
  const rights = text(data.rights);
  return { ...state, plan, revision, rights, tasks, ...(isNew ? fresh : {}) };
}

/** A resumed job keeps its id. */
function startJob(state: RunState, { data, job_id, created_at }: EventOf<'job-started'>): RunState {
  const id = job_id ?? data.job_id;
  const before = state.jobs[id];
  const job: JobState = {
    id,
    kind: data.kind ?? before?.kind ?? 'message',
    role: data.role ?? before?.role ?? 'actor',
    planId: data.plan_id ?? before?.planId ?? null,
    planRevision: data.plan_revision ?? before?.planRevision ?? null,
    status: 'running',
    error: null,
    startedAt: before?.startedAt ?? created_at,
    worked: data.worked_seconds ?? 0,
    since: null
  };
  const started = withCheckEvent({ ...state, busy: id, jobs: { ...state.jobs, [id]: job } }, job);
  return showsJob(state, id, data) ? followJob(started, job) : started;
}

function withCheckEvent(state: RunState, { kind }: JobState): RunState {
  return kind === 'check' ? { ...state, checks: state.checks + 1 } : state;
}

function placeOf(
  state: RunState,
  { job_id, task_id, created_at }: Event
): { job: string | null; task: string | null; role: string; at: string } {
  const role =
    (task_id && state.taskRoles[task_id]) || (job_id && state.jobs[job_id]?.role) || roleOf(state);
  return { job: job_id, task: task_id, role, at: created_at };
}

/** The card of an execution keeps the plan it executed; revisions belong to their own card. */
function isOurPlan(state: RunState, planId: string, jobId: string | null, isNew: boolean): boolean {
  const ofOurJob = jobId !== null && state.follows.includes(jobId);
  if (state.planId === null) {
    return ofOurJob;
  }
  return planId === state.planId && (ofOurJob || !isNew || state.jobs[state.root]?.kind !== 'plan');
}

/** A job started on this card, or one that executes the plan made on it. */
function showsJob(state: RunState, id: string, data: EventOf<'job-started'>['data']): boolean {
  const root = state.jobs[state.root];
  const executesOurs =
    data.kind === 'plan' &&
    root?.kind !== 'plan' &&
    state.planId !== null &&
    data.plan_id === state.planId;
  return id === state.root || data.card_id === state.root || executesOurs;
}

/** The role chosen for the next message is consumed by it. */
function followJob(state: RunState, job: JobState): RunState {
  const order = [...state.follows.filter(id => id !== job.id), job.id];
  return { ...state, follows: order, chosenRole: null };
}

/** Keeps only finished tasks of an earlier execution: step ids recur in new revisions. */
function finishedOf(plan: Plan, tasks: RunState['tasks']): RunState['tasks'] {
  const done = plan.steps
    .filter(({ status }) => status === 'completed' || status === 'skipped')
    .map(({ id }) => id);
  return Object.fromEntries(Object.entries(tasks).filter(([id]) => done.includes(id)));
}

/** A step that was sent back is not done, although its last task was. */
function withSentBack(plan: Plan, tasks: RunState['tasks']): RunState['tasks'] {
  const again = { ...tasks };
  for (const { id, status } of plan.steps) {
    if (status === 'pending' && tasks[id]?.status === 'completed') {
      again[id] = { ...tasks[id], status };
    }
  }
  return again;
}

export function follow(state: RunState, jobId: string): RunState {
  return state.follows.includes(jobId) ? state : { ...state, follows: [...state.follows, jobId] };
}

function draftKey(job: string | null, task: string | null): string {
  return task ?? job ?? '';
}

function grow(
  state: RunState,
  event: EventOf<'text-delta' | 'reasoning-delta'>,
  field: 'text' | 'reasoning'
): RunState {
  const key = draftKey(event.job_id, event.task_id);
  const draft: Draft = state.drafts[key] ?? {
    ...placeOf(state, event),
    text: '',
    reasoning: ''
  };
  return {
    ...state,
    drafts: {
      ...state.drafts,
      [key]: { ...draft, [field]: draft[field] + event.data.text }
    }
  };
}

/** The stored message replaces the streamed draft. */
function settleDraft(state: RunState, message: Message): RunState {
  const key = draftKey(message.job_id, message.task_id);
  return message.role === 'assistant' && key in state.drafts ? dropDraft(state, key) : state;
}

function dropDraft(state: RunState, key: string): RunState {
  const { [key]: _gone, ...drafts } = state.drafts;
  return { ...state, drafts };
}

function endJob(state: RunState, { data, job_id }: EventOf<'job-completed'>): RunState {
  const id = job_id ?? data.job_id;
  const before = state.jobs[id] ?? {
    id,
    kind: 'message',
    role: 'actor',
    planId: null,
    planRevision: null,
    startedAt: null
  };
  const job: JobState = {
    ...before,
    status: data.status,
    error: data.error ?? null,
    worked: data.worked_seconds ?? 0,
    since: null
  };
  const ended = withCheckEvent(
    { ...state, busy: state.busy === id ? null : state.busy, jobs: { ...state.jobs, [id]: job } },
    job
  );
  return state.follows.includes(id) ? dropDrafts(withoutPending(ended, id), id) : ended;
}

/** Keeps questions of an interrupted job: when resumed, it reads answers given meanwhile. */
function withoutPending(state: RunState, jobId: string): RunState {
  if (state.jobs[jobId]?.status === 'interrupted') {
    return state;
  }
  const others = (one: { job_id?: string | null }): boolean =>
    one.job_id !== jobId && Boolean(one.job_id);
  return {
    ...state,
    questions: state.questions.filter(others),
    permissions: state.permissions.filter(others)
  };
}

/** What was shown of a reply that ended early has become a message. */
function dropDrafts(state: RunState, jobId: string): RunState {
  const drafts = Object.entries(state.drafts).filter(([, { job }]) => job !== jobId);
  return { ...state, drafts: Object.fromEntries(drafts) };
}

function withTask(
  state: RunState,
  { data, job_id, task_id }: EventOf<'task-started' | 'task-completed'>
): RunState {
  const job = job_id === null ? undefined : state.jobs[job_id];
  if (job?.kind === 'plan' && job.planRevision !== state.revision) {
    return state;
  }
  const { status } = data;
  const id = task_id ?? data.task_id;
  const key = taskKey(job?.kind, id, data.step_id);
  const before = state.tasks[key];
  return {
    ...state,
    tasks: {
      ...state.tasks,
      [key]: {
        id,
        role: data.role ?? 'actor',
        description: data.description ?? '',
        status,
        error: data.error ?? null,
        result: data.result ?? null,
        worked: data.worked_seconds ?? 0,
        since: null,
        earlier: before?.id === id ? before.earlier : earlierRounds(data.round, before)
      }
    }
  };
}

/** Tasks of the step before it was sent back; none in a new execution. */
function earlierRounds(round?: number, before?: TaskState): readonly string[] {
  return round && before ? [...before.earlier, before.id] : [];
}

function resolvePermission(state: RunState, event: EventOf<'permission-resolved'>): RunState {
  const { id, decision, feedback, by } = event.data;
  const request = state.permissions.find(one => one.id === id);
  const rest = { ...state, permissions: state.permissions.filter(one => one.id !== id) };
  if (!request || !decision) {
    return rest;
  }
  const { job_id, task_id, created_at: at } = event;
  return withDecision(rest, {
    id,
    job_id,
    task_id,
    what: request.resource || request.tool,
    allowed: decision === 'allow',
    feedback: feedback ?? '',
    by: by ?? '',
    at
  });
}

function withNotice(state: RunState, event: EventOf<'notice'>): RunState {
  const { data } = event;
  switch (data.code) {
    case 'tool-output':
      return changeCall(state, data.call_id, call => ({
        output: (call.output + data.text).slice(-MAX_OUTPUT)
      }));
    case 'notebook_seen':
    case 'suggestion': // shown at their cell
    case 'suggestion_decided':
      return state;
    case 'reproduction':
      return { ...state, checks: state.checks + 1 };
    case 'history_summary':
      return withNoticeLine(state, event, data.message, { detail: data.text });
    case 'left_behind':
      return withNoticeLine(state, event, data.message, { setAside: data.set_aside });
    case 'reply_progress':
      return { ...state, pace: data };
    case 'restarted':
      // The streamed part of a reply is void when the model server starts over.
      return withRetry(
        dropDraft(state, draftKey(event.job_id, event.task_id)),
        event,
        data.message
      );
    default:
      return withNoticeLine(state, event, data.message);
  }
}

/** One line for all attempts at a reply; the newest replaces the previous one. */
function withRetry(state: RunState, event: EventOf<'notice'>, text: string): RunState {
  const last = state.entries
    .filter(({ job, task }) => job === event.job_id && task === event.task_id)
    .at(-1);
  if (last?.kind !== 'notice' || !last.retry) {
    const place = { ...placeOf(state, event), id: `notice-${event.seq}` };
    return withEntry(state, { ...place, kind: 'notice', text, retry: true });
  }
  return { ...state, entries: state.entries.map(one => (one === last ? { ...last, text } : one)) };
}

function withNoticeLine(
  state: RunState,
  event: Event,
  message: string | null | undefined,
  more: Partial<Pick<LineEntry, 'detail' | 'setAside'>> = {}
): RunState {
  return message
    ? withEntry(state, {
        ...placeOf(state, event),
        id: `notice-${event.seq}`,
        kind: 'notice',
        text: message,
        ...more
      })
    : state;
}
