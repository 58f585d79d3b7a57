/**
 * How a run stands, asked anew: a saved card is shortened, and nobody should decide on less than
 * all of it.
 */

import type { Channel } from '../channel/channel';
import type { Message, Page, PlanAnswer, WholeCardAnswer } from '../types';
import { inOrder, withDecision, withEffect, withMessage, withSummary } from './messages';
import { permissionOf, planOf, questionOf, text } from './reading';
import { fromCard } from './snapshot';
import type { CallEntry, Entry, RunState } from './state';

/**
 * All that a card needs, in one request: a page may have many. Rejects with a 404 when nobody here
 * knows the run.
 */
export function loadRun(
  channel: Channel,
  jobId: string,
  notebook?: string
): Promise<WholeCardAnswer> {
  const here = notebook === undefined ? '' : `&notebook=${encodeURIComponent(notebook)}`;
  return channel.request<WholeCardAnswer>('GET', `jobs/${jobId}/card?whole=true${here}`);
}

/** Whatever happened while the answer was made comes again as an event, and then does no harm. */
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

/** Whether an answer tells more about the very revision that the card shows. */
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

/** Every message of a conversation, whole. */
export async function loadMessages(channel: Channel, contextId: string): Promise<Message[]> {
  const messages: Message[] = [];
  let after: string | number | null = 0;
  while (after !== null) {
    const page: Page<Message> = await channel.request(
      'GET',
      `context/${contextId}/messages?after=${after}&limit=1000`
    );
    messages.push(...page.items);
    after = page.next;
  }
  return messages;
}

/**
 * Puts the whole messages in the place of the shortened ones; what is no message, and what came
 * meanwhile, stays.
 */
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
    ...whole.entries.map(entry => withWhatWasSeen(entry, before.get(entry.id))),
    ...state.entries.filter(({ id }) => !known.has(id))
  ];
  return inOrder({ ...whole, entries });
}

/** Messages do not know that a question was withdrawn, nor what a tool has written so far. */
function withWhatWasSeen(entry: Entry, old: Entry | undefined): Entry {
  if (entry.kind === 'question' && old?.kind === 'question') {
    return { ...entry, answer: entry.answer ?? old.answer };
  }
  if (entry.kind === 'call' && old?.kind === 'call') {
    const outcome: Partial<CallEntry> =
      entry.ok === null ? { ok: old.ok, summary: old.summary, endedAt: old.endedAt } : {};
    return { ...entry, ...outcome, output: old.output, effects: old.effects };
  }
  return entry;
}
