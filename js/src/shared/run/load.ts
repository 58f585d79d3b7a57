/** How a run stands, asked anew: a saved card is shortened, and nobody should decide on less than all of it. */

import { CoworkError, type Channel } from '../channel';
import type { CardAnswer, Job, Message, Page, PlanAnswer, RunCardData } from '../protocol';
import { withMessage } from './messages';
import { permissionOf, planOf, questionOf } from './reading';
import { fromCard } from './snapshot';
import type { CallEntry, Entry, RunState } from './state';

type Fields = Record<string, unknown>;

/** Rejects with a 404 when nobody here knows the run. */
export async function loadRun(channel: Channel, saved: RunCardData): Promise<RunState> {
  const { card } = await channel.request<CardAnswer>('GET', `jobs/${saved.job_id}/card`);
  // Whatever happens while the rest is read comes again as an event, and then does no harm.
  const context = `context/${card.context_id}`;
  const [jobs, plan, permissions, questions] = await Promise.all([
    channel.request<Page<Job>>('GET', `${context}/jobs`),
    channel.request<PlanAnswer>('GET', planAddress(card.context_id, card.snapshot.plan_id ?? null)),
    pending(channel, `${context}/permissions`),
    pending(channel, `${context}/questions`)
  ]);
  const shown = fromCard(card);
  const state = isPlanOf(shown, plan) ? withPlan(shown, plan) : shown;
  const isFollowed = (one: { job_id?: string | null }): boolean => !one.job_id || state.follows.includes(one.job_id);
  return {
    ...state,
    busy: jobs.items.find(({ status }) => status === 'running' || status === 'waiting')?.id ?? null,
    permissions: permissions?.map(permissionOf).filter(isFollowed) ?? state.permissions,
    questions: questions?.map(questionOf).filter(isFollowed) ?? state.questions
  };
}

/** Null when this caller may not see them: a kernel may not decide. */
async function pending(channel: Channel, path: string): Promise<Fields[] | null> {
  try {
    const { items } = await channel.request<Page<Fields>>('GET', path);
    return items.filter(({ status }) => status === undefined || status === 'pending');
  } catch (error) {
    if (error instanceof CoworkError && (error.status === 403 || error.status === 404)) {
      return null;
    }
    throw error;
  }
}

export function planAddress(contextId: string, planId: string | null): string {
  return `context/${contextId}/plan${planId ? `?plan_id=${encodeURIComponent(planId)}` : ''}`;
}

/** Whether an answer tells more about the very revision that the card shows. */
export function isPlanOf(state: RunState, { plan_id, revision }: PlanAnswer): boolean {
  return state.plan !== null && plan_id === state.planId && revision === state.revision;
}

export function withPlan(state: RunState, { plan, revision, made_at, stale }: PlanAnswer): RunState {
  return plan === null ? state : { ...state, plan: planOf(plan as unknown as Fields), revision, madeAt: made_at, stale };
}

/** Every message of a conversation, whole. */
export async function loadMessages(channel: Channel, contextId: string): Promise<Message[]> {
  const messages: Message[] = [];
  let after: string | number | null = 0;
  while (after !== null) {
    const page: Page<Message> = await channel.request('GET', `context/${contextId}/messages?after=${after}&limit=1000`);
    messages.push(...page.items);
    after = page.next;
  }
  return messages;
}

/** Puts the whole messages in the place of the shortened ones; what is no message, and what came meanwhile, stays. */
export function withWholeRecord(state: RunState, messages: readonly Message[]): RunState {
  const ours = messages.filter(({ job_id }) => job_id && state.follows.includes(job_id));
  const whole = ours.reduce(withMessage, { ...state, entries: [], leftOut: 0 });
  const before = new Map(state.entries.map(entry => [entry.id, entry]));
  const known = new Set(whole.entries.map(({ id }) => id));
  const entries = [
    ...whole.entries.map(entry => withWhatWasSeen(entry, before.get(entry.id))),
    ...state.entries.filter(({ id }) => !known.has(id))
  ];
  return { ...whole, entries: entries.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)) };
}

/** Messages do not know that a question was withdrawn, nor what a tool has written so far. */
function withWhatWasSeen(entry: Entry, old: Entry | undefined): Entry {
  if (entry.kind === 'question' && old?.kind === 'question') {
    return { ...entry, answer: entry.answer ?? old.answer };
  }
  if (entry.kind === 'call' && old?.kind === 'call') {
    const outcome: Partial<CallEntry> = entry.ok === null ? { ok: old.ok, summary: old.summary, endedAt: old.endedAt } : {};
    return { ...entry, ...outcome, output: old.output };
  }
  return entry;
}
