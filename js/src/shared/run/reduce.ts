/** The run card's one way to change: an event in, a new state out. */

import type { Event, Message, Plan, StepStatus } from '../protocol';
import { t } from '../translate';
import { callFacts, changeCall, MOST_OUTPUT, outcome, withAnswer, withCall, withEntry, withMessage } from './messages';
import { addedUsage, permissionOf, planOf, questionOf, text, usageOf } from './reading';
import { isFinal, roleOf, type Draft, type JobState, type RunState } from './state';

/** Events that were seen are ignored, so they may come twice. Whether one is missing, `hasGap` says. */
export function reduce(state: RunState, event: Event): RunState {
  if (event.seq <= state.seq) {
    return state;
  }
  const next = { ...state, seq: event.seq };
  const reducer = OF_THE_CONTEXT[event.type];
  if (reducer) {
    return reducer(next, event);
  }
  const isFollowed = event.job_id === null || state.follows.includes(event.job_id);
  return isFollowed ? (OF_A_JOB[event.type]?.(next, event) ?? next) : next;
}

/** True when something between the state and this event has not arrived. */
export function hasGap(state: RunState, event: Event): boolean {
  return event.seq > state.seq + 1;
}

type Reducer = (state: RunState, event: Event) => RunState;

/** What concerns a card whoever's job it was: the conversation has one role and one running job. */
const OF_THE_CONTEXT: Record<string, Reducer> = {
  'plan-update': (state, { data, created_at, job_id }) => {
    const revision = typeof data['revision'] === 'number' ? data['revision'] : state.revision;
    const isNew = revision !== state.revision || state.plan === null;
    if (!isOurPlan(state, text(data['id']), job_id, isNew)) {
      return state;
    }
    const plan = planOf(data);
    const fresh = { planId: plan.id, madeAt: created_at, stale: [], tasks: finishedOf(plan, state.tasks) };
    return { ...state, plan, revision, ...(isNew ? fresh : {}) };
  },
  'job-started': (state, event) => {
    const id = event.job_id ?? text(event.data['job_id']);
    // A job that is resumed goes on under its old name.
    const job: JobState = {
      ...startedJob(id, event.data, state.jobs[id]),
      startedAt: state.jobs[id]?.startedAt ?? event.created_at
    };
    const started = { ...state, busy: id, jobs: { ...state.jobs, [id]: job } };
    return showsJob(state, id, event.data) ? followJob(started, job) : started;
  },
  'job-completed': (state, event) => endJob(state, event),
  message: (state, event) => {
    const message = event.data as unknown as Message;
    const isFollowed = !message.job_id || state.follows.includes(message.job_id);
    return isFollowed ? withMessage(settleDraft(state, message), withThoughts(state, message)) : state;
  }
};

const OF_A_JOB: Record<string, Reducer> = {
  'text-delta': (state, event) => grow(state, event, 'text'),
  'reasoning-delta': (state, event) => grow(state, event, 'reasoning'),
  'tool-call': (state, event) => withCall(state, { ...callFacts(event.data), ...placeOf(state, event) }),
  'tool-result': (state, { data, created_at }) =>
    changeCall(state, text(data['call_id']), () => ({ ...outcome(data), endedAt: created_at })),
  'permission-request': (state, event) => {
    const { job_id, task_id, data } = event;
    const request = permissionOf({ job_id, task_id, ...data });
    return { ...state, permissions: [...state.permissions.filter(({ id }) => id !== request.id), request] };
  },
  'permission-resolved': resolvePermission,
  'question-asked': (state, event) => {
    const question = { ...questionOf(event.data), job_id: event.job_id, task_id: event.task_id };
    return { ...state, questions: [...state.questions.filter(({ id }) => id !== question.id), question] };
  },
  'question-answered': (state, { data }) => {
    const id = text(data['id']);
    const answer = typeof data['value'] === 'string' ? data['value'] : null;
    return withAnswer({ ...state, questions: state.questions.filter(question => question.id !== id) }, id, answer);
  },
  'task-started': (state, event) => withTask(state, event),
  'task-completed': (state, event) => withTask(state, event),
  'checkpoint-created': state => ({ ...state, checkpoints: state.checkpoints + 1 }),
  usage: (state, { data }) => ({ ...state, usage: addedUsage(state.usage, usageOf(data)), model: text(data['model']) || state.model }),
  notice: withNotice
};

function placeOf(state: RunState, { job_id, task_id, created_at }: Event): { job: string | null; task: string | null; role: string; at: string } {
  const role = (task_id && state.taskRoles[task_id]) || (job_id && state.jobs[job_id]?.role) || roleOf(state);
  return { job: job_id, task: task_id, role, at: created_at };
}

/** The card of an execution keeps what it executed: others may revise the plan, on its own card. */
function isOurPlan(state: RunState, planId: string, jobId: string | null, isNew: boolean): boolean {
  const ofOurJob = jobId !== null && state.follows.includes(jobId);
  if (state.planId === null) {
    return ofOurJob;
  }
  return planId === state.planId && (ofOurJob || !isNew || state.jobs[state.root]?.kind !== 'plan');
}

/** Whether this card shows a job: one started on it, or, where its plan was made, one that executes that plan. */
function showsJob(state: RunState, id: string, data: Event['data']): boolean {
  const root = state.jobs[state.root];
  const executesOurs = data['kind'] === 'plan' && root?.kind !== 'plan' && state.planId !== null && data['plan_id'] === state.planId;
  return id === state.root || data['card_id'] === state.root || executesOurs;
}

function startedJob(id: string, data: Event['data'], before: JobState | undefined): JobState {
  return {
    id,
    kind: (text(data['kind']) || before?.kind || 'message') as JobState['kind'],
    role: text(data['role']) || before?.role || 'actor',
    planId: text(data['plan_id']) || before?.planId || null,
    planRevision: typeof data['plan_revision'] === 'number' ? data['plan_revision'] : (before?.planRevision ?? null),
    status: 'running',
    error: null,
    startedAt: null,
    endedAt: null
  };
}

/** What the user had chosen for the next message counts for that one. */
function followJob(state: RunState, job: JobState): RunState {
  const order = [...state.follows.filter(id => id !== job.id), job.id];
  return { ...state, follows: order, chosenRole: null };
}

/** Of an earlier execution only what it has finished still stands; step ids come again in a new revision. */
function finishedOf(plan: Plan, tasks: RunState['tasks']): RunState['tasks'] {
  const done = plan.steps.filter(({ status }) => status === 'completed' || status === 'skipped').map(({ id }) => id);
  return Object.fromEntries(Object.entries(tasks).filter(([id]) => done.includes(id)));
}

export function follow(state: RunState, jobId: string): RunState {
  return state.follows.includes(jobId) ? state : { ...state, follows: [...state.follows, jobId] };
}

function draftKey(job: string | null, task: string | null): string {
  return task ?? job ?? '';
}

function grow(state: RunState, event: Event, field: 'text' | 'reasoning'): RunState {
  const key = draftKey(event.job_id, event.task_id);
  const blank = { text: '', reasoning: '', thinkingSince: null, thoughtUntil: null };
  const draft: Draft = state.drafts[key] ?? { ...placeOf(state, event), ...blank };
  const marks =
    field === 'reasoning'
      ? { thinkingSince: draft.thinkingSince ?? event.created_at }
      : { thoughtUntil: draft.thoughtUntil ?? event.created_at };
  return { ...state, drafts: { ...state.drafts, [key]: { ...draft, ...marks, [field]: draft[field] + text(event.data['text']) } } };
}

/** The stored message takes the place of what streamed. */
function settleDraft(state: RunState, message: Message): RunState {
  const key = draftKey(message.job_id ?? null, message.task_id ?? null);
  return message.role === 'assistant' && key in state.drafts ? dropDraft(state, key) : state;
}

function dropDraft(state: RunState, key: string): RunState {
  const { [key]: _gone, ...drafts } = state.drafts;
  return { ...state, drafts };
}

/** Only who looked on knows how long it thought; the stored message does not say. */
function withThoughts(state: RunState, message: Message): Message {
  const draft = state.drafts[draftKey(message.job_id ?? null, message.task_id ?? null)];
  if (!draft?.thinkingSince) {
    return message;
  }
  const seconds = (Date.parse(draft.thoughtUntil ?? message.created_at ?? '') - Date.parse(draft.thinkingSince)) / 1000;
  return { ...message, data: { ...message.data, thought_for: seconds } };
}

function endJob(state: RunState, event: Event): RunState {
  const id = event.job_id ?? text(event.data['job_id']);
  const before = state.jobs[id];
  const job: JobState = {
    ...(before ?? startedJob(id, event.data, undefined)),
    status: (text(event.data['status']) || 'completed') as JobState['status'],
    error: text(event.data['error']) || null,
    endedAt: event.created_at
  };
  const ended = { ...state, busy: state.busy === id ? null : state.busy, jobs: { ...state.jobs, [id]: job } };
  return state.follows.includes(id) ? keepDrafts(withoutPending(ended, id), id) : ended;
}

/** What a job that was interrupted asked waits on: once it is resumed it takes up what was answered meanwhile. */
function withoutPending(state: RunState, jobId: string): RunState {
  if (state.jobs[jobId]?.status === 'interrupted') {
    return state;
  }
  const others = (one: { job_id?: string | null }): boolean => one.job_id !== jobId && Boolean(one.job_id);
  return { ...state, questions: state.questions.filter(others), permissions: state.permissions.filter(others) };
}

/** What had streamed when a job was stopped is nowhere else: it stays, marked as cut off. */
function keepDrafts(state: RunState, jobId: string): RunState {
  return Object.entries(state.drafts)
    .filter(([, draft]) => draft.job === jobId)
    .reduce((rest, [key, draft]) => {
      const { job, task, role, at } = draft;
      const left = dropDraft(rest, key);
      return draft.text.trim()
        ? withEntry(left, {
            ...{ kind: 'text', from: 'assistant', id: `draft-${key}-${at}`, job, task, role, at },
            ...{ text: draft.text, reasoning: draft.reasoning, thoughtFor: null, problem: t('The reply was cut off here.'), cut: false }
          })
        : left;
    }, state);
}

function withTask(state: RunState, { data, job_id, task_id, created_at }: Event): RunState {
  const job = job_id === null ? undefined : state.jobs[job_id];
  if (job?.kind === 'plan' && job.planRevision !== state.revision) {
    return state;
  }
  const stepId = text(data['step_id']);
  const before = state.tasks[stepId];
  const status = (text(data['status']) || 'running') as StepStatus;
  return {
    ...state,
    tasks: {
      ...state.tasks,
      [stepId]: {
        id: task_id ?? text(data['task_id']),
        status,
        error: text(data['error']) || null,
        result: text(data['result']) || null,
        startedAt: status === 'running' ? created_at : (before?.startedAt ?? null),
        endedAt: isFinal(status) ? created_at : null
      }
    }
  };
}

function resolvePermission(state: RunState, event: Event): RunState {
  const id = text(event.data['id']);
  const request = state.permissions.find(one => one.id === id);
  const rest = { ...state, permissions: state.permissions.filter(one => one.id !== id) };
  const decision = text(event.data['decision']);
  if (!request || !decision) {
    return rest;
  }
  const allowed = decision === 'allow';
  const what = request.resource || request.tool;
  const words = allowed ? t('You allowed: %1', what) : t('You did not allow: %1', what);
  const feedback = text(event.data['feedback']);
  return withEntry(rest, { ...placeOf(state, event), id: `decision-${id}`, kind: 'decision', allowed, text: feedback ? `${words} — ${feedback}` : words });
}

function withNotice(state: RunState, event: Event): RunState {
  const { code, message } = { code: text(event.data['code']), message: text(event.data['message']) };
  if (code === 'tool-output') {
    return changeCall(state, text(event.data['call_id']), call => ({
      output: (call.output + text(event.data['text'])).slice(-MOST_OUTPUT)
    }));
  }
  if (code === 'reproduction') {
    const news = { ...state, checks: state.checks + 1 };
    return message ? withEntry(news, { ...placeOf(state, event), id: `notice-${event.seq}`, kind: 'notice', text: message }) : news;
  }
  // What had streamed of the reply is void when the model's server starts over.
  const clean = code === 'restarted' ? dropDraft(state, draftKey(event.job_id, event.task_id)) : state;
  return message ? withEntry(clean, { ...placeOf(state, event), id: `notice-${event.seq}`, kind: 'notice', text: message }) : clean;
}
