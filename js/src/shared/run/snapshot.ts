/** A saved card becomes a state again, so that a record and a live run are drawn by the same code. */

import { isRecord } from '../channel';
import type { JobFacts, Message, RunCardData, RunSnapshot, Task } from '../types';
import { withMessage } from './messages';
import { permissionOf, planOf, questionOf, reproductionOf, reviewOf, text, usageOf } from './reading';
import { emptyRun, isFinal, taskKey, type JobState, type RunState, type TaskState } from './state';

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
    tasks: tasksOf(snapshot.tasks ?? [], jobs),
    questions: (snapshot.questions ?? []).map(one => questionOf({ ...one })),
    permissions: (snapshot.permissions ?? []).map(one => permissionOf({ ...one })),
    usage: usageOf(snapshot.usage)
  };
  return (snapshot.messages ?? []).reduce((state: RunState, one) => withMessage(state, messageOf(one)), empty);
}

/** A message of a saved card as the server would send it: a notebook is anybody's, so its data is checked here, once. */
export function messageOf({ text: said, cut, data, ...one }: RunSnapshot['messages'][number]): Message {
  const at = one.created_at ?? '';
  const base = {
    ...{ context_id: '', role: one.role, agent_role: one.agent_role, created_at: at, cut: cut === true },
    ...{ id: one.id ?? `${one.message_type}-${at}-${text(said).slice(0, 40)}`, job_id: one.job_id ?? null, task_id: one.task_id ?? null },
    content: [{ type: 'text' as const, text: text(said) }]
  };
  const fields = isRecord(data) ? data : {};
  return { ...base, message_type: one.message_type, data: dataOf(one.message_type, fields) } as Message;
}

function dataOf(type: Message['message_type'], data: Record<string, unknown>): object {
  const { call_id, tool, parameters, error, approved_revision, reproduction, answer } = data;
  switch (type) {
    case 'tool_call':
      return { call_id: text(call_id), tool: text(tool), parameters: isRecord(parameters) ? parameters : {} };
    case 'tool_result':
      return {
        ...{ call_id: text(call_id), ok: data['ok'] === true, summary: text(data['summary']) },
        error: isRecord(error) ? { code: text(error['code']), message: text(error['message']) } : null
      };
    case 'question':
      return questionOf(data);
    case 'review':
      return reviewOf(data);
    case 'text':
      return {
        ...{ reasoning: text(data['reasoning']), problem: text(data['problem']) },
        approved_revision: typeof approved_revision === 'number' ? approved_revision : null,
        answer: isRecord(answer) ? { question_id: text(answer['question_id']), value: text(answer['value']) } : null,
        reproduction: isRecord(reproduction) ? reproductionOf(reproduction) : null
      };
    default:
      return {};
  }
}

/** Cards of earlier versions say only how one job stood; with tasks, it executed the plan. */
function onlyJob({ job_id, role, snapshot }: RunCardData): JobFacts {
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

export function jobState({ id, kind, role, plan_id, plan_revision, status, error, created_at, completed_at }: JobFacts): JobState {
  return { id, kind, role, planId: plan_id, planRevision: plan_revision, status, error, startedAt: created_at || null, endedAt: completed_at };
}

function tasksOf(tasks: readonly Task[], jobs: readonly JobFacts[]): Record<string, TaskState> {
  const kindOf = (task: Task): JobFacts['kind'] | undefined => jobs.find(({ id }) => id === task.job_id)?.kind;
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
        // All tasks are made when the job begins; when each was begun, its first message says.
        startedAt: null,
        endedAt: task.completed_at ?? null
      }
    ])
  );
}
