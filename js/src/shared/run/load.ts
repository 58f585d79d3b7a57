/** Loads the full state of a run: saved cards are truncated, and nobody should decide on a part. */

import type { Channel } from '../channel/channel';
import type { Message, PlanAnswer, WholeCardAnswer } from '../types';
import { inOrder, withDecision, withEffect, withMessage, withSummary } from './messages';
import { text } from '../channel/values';
import { permissionOf, planOf, questionOf } from './parse';
import { fromCard } from './snapshot';
import type { CallEntry, Entry, RunState } from './state';

/** One request per card, since a page may have many. Rejects with 404 if the run is unknown. */
export function loadRun(
  channel: Channel,
  jobId: string,
  notebook?: string
): Promise<WholeCardAnswer> {
  const here = notebook === undefined ? '' : `&notebook=${encodeURIComponent(notebook)}`;
  return channel.request<WholeCardAnswer>('GET', `jobs/${jobId}/card?whole=true${here}`);
}

/** Events that arrive while the answer is made are delivered again, which is harmless. */
export function fromWhole({ card, state: whole }: WholeCardAnswer): RunState {
  const shown = fromCard({
    ...card,
    snapshot: { ...card.snapshot, jobs: whole.jobs, tasks: whole.tasks }
  });
  const planned = whole.plan && isPlanOf(shown, whole.plan) ? withPlan(shown, whole.plan) : shown;
  const isFollowed = (one: { job_id?: string | null }): boolean =>
    !one.job_id || planned.follows.includes(one.job_id);
  const state = {
    ...planned,
    summedTo: whole.seq,
    currentRole: whole.role ?? null,
    busy: whole.busy,
    checkpoints: whole.checkpoints,
    guidance: whole.guidance,
    permissions: whole.permissions?.map(permissionOf).filter(isFollowed) ?? planned.permissions,
    questions: whole.questions?.map(questionOf).filter(isFollowed) ?? planned.questions
  };
  const summarised = whole.summaries.reduce(withSummary, state);
  const decided = inOrder(whole.decisions.reduce(withDecision, summarised));
  const record = whole.messages ? withWholeRecord(decided, whole.messages) : decided;
  return whole.effects.reduce(withEffect, record);
}

export function planAddress(contextId: string, planId: string | null): string {
  return `context/${contextId}/plan${planId ? `?plan_id=${encodeURIComponent(planId)}` : ''}`;
}

/** Whether an answer is about the plan revision on the card. */
export function isPlanOf(state: RunState, { plan, revision }: PlanAnswer): boolean {
  return plan !== null && plan.id === state.planId && revision === state.revision;
}

export function withPlan(
  state: RunState,
  { plan, revision, made_at, stale, rights }: PlanAnswer
): RunState {
  return plan === null
    ? state
    : {
        ...state,
        plan: planOf({ ...plan }),
        revision,
        madeAt: made_at,
        stale,
        rights: text(rights)
      };
}

/** Replaces truncated messages with full ones; keeps other entries and what arrived meanwhile. */
export function withWholeRecord(state: RunState, messages: readonly Message[]): RunState {
  const ours = messages.filter(({ job_id }) => job_id && state.follows.includes(job_id));
  const whole = ours.reduce((rest: RunState, one) => withMessage(rest, one), {
    ...state,
    entries: [],
    leftOut: 0
  });
  const before = new Map(state.entries.map(entry => [entry.id, entry]));
  const known = new Set(whole.entries.map(({ id }) => id));
  const entries = [
    ...whole.entries.map(entry => keepStreamedState(entry, before.get(entry.id))),
    ...state.entries.filter(({ id }) => !known.has(id))
  ];
  return inOrder({ ...whole, entries });
}

/** Messages lack withdrawn questions and the streamed output of running tools. */
function keepStreamedState(entry: Entry, old: Entry | undefined): Entry {
  if (entry.kind === 'question' && old?.kind === 'question') {
    return { ...entry, answer: entry.answer ?? old.answer };
  }
  if (entry.kind === 'call' && old?.kind === 'call') {
    const outcome: Partial<CallEntry> =
      entry.ok === null ? { ok: old.ok, summary: old.summary, seconds: old.seconds } : {};
    return { ...entry, ...outcome, output: old.output, effects: old.effects };
  }
  return entry;
}
