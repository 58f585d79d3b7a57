/**
 * Restores the state from a saved card, so that records and live runs render with the same code.
 */

import { isRecord } from '../channel/channel';
import { assumptionsOf, effectsOf, figuresOf } from '../effects/parse';
import { secondsBetween } from '../text/format';
import type { JobFacts, Message, RunCardData, RunSnapshot, Task, UserDecision } from '../types';
import { guidanceOf } from './guidance';
import { inOrder, withDecision, withEffect, withMessage } from './messages';
import { number, text } from '../channel/values';
import { permissionOf, planOf, questionOf, reproductionOf, reviewOf, usageOf } from './parse';
import { emptyRun, isFinal, taskKey, type JobState, type RunState, type TaskState } from './state';

/** Of a run of which nothing is known yet. */
export const BLANK = {
  messages: [],
  plan: null,
  revision: 0,
  made_at: null,
  stale: [],
  tasks: [],
  questions: [],
  permissions: [],
  status: 'running',
  error: null,
  usage: null,
  started_at: null,
  ended_at: null
} satisfies Partial<RunSnapshot>;

export function fromCard(card: RunCardData): RunState {
  const { snapshot } = card;
  const jobs = snapshot.jobs ?? [onlyJob(card)];
  const plan = snapshot.plan && planOf({ ...snapshot.plan });
  const empty = {
    ...emptyRun(card.context_id, card.job_id),
    seq: snapshot.seq ?? 0,
    follows: jobs.map(({ id }) => id),
    jobs: Object.fromEntries(jobs.map(job => [job.id, jobState(job)])),
    busy: jobs.find(({ status }) => !isFinal(status))?.id ?? null,
    model: snapshot.model,
    goal: snapshot.goal || card.title,
    leftOut: snapshot.left_out ?? 0,
    plan,
    planId: snapshot.plan_id ?? plan?.id ?? null,
    revision: snapshot.revision,
    madeAt: snapshot.made_at,
    stale: snapshot.stale ?? [],
    rights: text(snapshot.rights),
    tasks: tasksOf(snapshot.tasks ?? [], jobs),
    questions: (snapshot.questions ?? []).map(one => questionOf({ ...one })),
    permissions: (snapshot.permissions ?? []).map(one => permissionOf({ ...one })),
    usage: usageOf(snapshot.usage),
    guidance: guidanceOf(snapshot.guidance)
  };
  const withMessages = (snapshot.messages ?? []).reduce(
    (state: RunState, one) => withMessage(state, messageOf(one)),
    empty
  );
  const seen = effectsOf(snapshot.effects).reduce(withEffect, withMessages);
  return inOrder((snapshot.decisions ?? []).map(decisionOf).reduce(withDecision, seen));
}

/** Validates a saved message once: notebooks are untrusted. */
export function messageOf({ text: body, data, ...one }: RunSnapshot['messages'][number]): Message {
  const {
    id = `${one.message_type}-${one.created_at}-${text(body).slice(0, 40)}`,
    job_id = null,
    task_id = null,
    created_at = ''
  } = one;
  const content = [{ type: 'text', text: text(body) }];
  return {
    ...one,
    id,
    job_id,
    task_id,
    created_at,
    content,
    data: dataOf(one.message_type, isRecord(data) ? data : {})
  } as Message;
}

function decisionOf({
  id,
  what,
  feedback,
  by,
  at,
  allowed,
  job_id,
  task_id
}: UserDecision): UserDecision {
  return {
    id,
    job_id,
    task_id,
    at: text(at),
    what: text(what),
    feedback: text(feedback),
    by: text(by),
    allowed: allowed === true
  };
}

function dataOf(type: Message['message_type'], data: Record<string, unknown>): object {
  if (type === 'question' || type === 'review') {
    return type === 'question' ? questionOf(data) : reviewOf(data);
  }
  const { parameters, error, answer, reproduction } = data;
  const decoded = Object.fromEntries(
    ['call_id', 'tool', 'summary', 'reasoning', 'problem', 'cut'].map(name => [
      name,
      text(data[name])
    ])
  );
  return {
    ...decoded,
    ok: data['ok'] === true,
    seconds: number(data['seconds']),
    thought_seconds: number(data['thought_seconds']),
    parameters: isRecord(parameters) ? parameters : {},
    error: isRecord(error) ? { code: text(error['code']), message: text(error['message']) } : null,
    answer: isRecord(answer)
      ? { question_id: text(answer['question_id']), value: text(answer['value']) }
      : null,
    reproduction: isRecord(reproduction) ? reproductionOf(reproduction) : null,
    figures: figuresOf(data['figures']),
    assumptions: assumptionsOf(data['assumptions']),
    mentions: data['mentions']
  };
}

/** Cards of earlier versions describe only one job; with tasks, it executed the plan. */
export function onlyJob({ job_id, role, snapshot }: RunCardData): JobFacts {
  const executed = (snapshot.tasks ?? []).length > 0 && snapshot.plan !== null;
  return {
    id: job_id,
    kind: executed ? 'plan' : 'message',
    role: snapshot.role || role,
    plan_id: null,
    plan_revision: executed ? snapshot.revision : null,
    card_id: job_id,
    status: snapshot.status,
    error: snapshot.error,
    created_at: snapshot.started_at ?? '',
    completed_at: snapshot.ended_at
  };
}

function jobState({
  id,
  kind,
  role,
  plan_id,
  plan_revision,
  status,
  error,
  created_at,
  completed_at,
  worked_seconds,
  working_since
}: JobFacts): JobState {
  return {
    id,
    kind,
    role,
    planId: plan_id,
    planRevision: plan_revision,
    status,
    error,
    startedAt: created_at || null,
    worked: worked_seconds ?? secondsBetween(created_at, completed_at) ?? 0,
    since: working_since ?? null
  };
}

function tasksOf(tasks: readonly Task[], jobs: readonly JobFacts[]): Record<string, TaskState> {
  const kindOf = (task: Task): JobFacts['kind'] | undefined =>
    jobs.find(({ id }) => id === task.job_id)?.kind;
  return Object.fromEntries(
    tasks.map(task => [
      taskKey(kindOf(task), task.id, task.step_id),
      {
        id: task.id,
        role: task.role ?? 'actor',
        description: task.description ?? '',
        status: task.status,
        error: task.error ?? null,
        result: task.result ?? null,
        worked: task.worked_seconds ?? 0,
        since: task.working_since ?? null,
        earlier: tasks.filter(one => isEarlierRound(one, task)).map(({ id }) => id)
      }
    ])
  );
}

function isEarlierRound(one: Task, task: Task): boolean {
  const isSameStep = one.job_id === task.job_id && one.step_id === task.step_id;
  return isSameStep && (one.round ?? 0) < (task.round ?? 0);
}
