/** Stored messages become entries; a message that comes twice changes nothing the second time. */

import { isRecord } from '../channel';
import type { Message } from '../protocol';
import { t } from '../translate';
import { questionOf, reproductionOf, reviewOf, text } from './reading';
import type { CallEntry, Entry, LineEntry, RunState, TextEntry } from './state';

/** Older entries beyond this are let go, so that a card of a very long run stays light. */
export const MOST_ENTRIES = 1500;
/** Of a running tool's output the newest is kept. */
export const MOST_OUTPUT = 20_000;

export function messageText(message: Message): string {
  return message.text ?? (message.content ?? []).map(part => (part.type === 'text' ? (part.text ?? '') : '')).join('');
}

export function withMessage(state: RunState, message: Message): RunState {
  switch (message.message_type) {
    case 'tool_call':
      return withCall(state, { ...placed(message), ...callFacts(message.data) });
    case 'tool_result':
      return withResult(state, message);
    case 'task_assignment':
      return withEntry(withTaskRole(state, message), line(message, 'assignment'));
    default: {
      const { answer } = message.data;
      if (isRecord(answer)) {
        return withAnswer(state, text(answer['question_id']), text(answer['value']));
      }
      const entry = entryOf(message);
      return entry === null ? state : withEntry(state, entry);
    }
  }
}

function entryOf(message: Message): Entry | null {
  switch (message.message_type) {
    case 'plan':
      return line(message, 'plan', t('Made a plan.'));
    case 'question':
      return { ...placed(message), kind: 'question', question: questionOf(message.data), answer: undefined };
    case 'review':
      return { ...placed(message), kind: 'review', review: reviewOf(message.data) };
    case 'task_result':
      return line(message, 'outcome');
    case 'role_change':
      return line(message, 'role');
    case 'error':
      return line(message, 'error');
    default:
      return ofTheUser(message) ?? textEntry(message);
  }
}

/** What the user did, and what came of it, stored as a message. */
function ofTheUser(message: Message): Entry | null {
  const { approved_revision, reproduction } = message.data;
  if (isRecord(reproduction)) {
    return { ...placed(message), kind: 'check', check: reproductionOf(reproduction) };
  }
  return typeof approved_revision === 'number'
    ? { ...line(message, 'decision', t('You approved the plan.')), allowed: true, approval: true }
    : null;
}

function placed(message: Message): { id: string; job: string | null; task: string | null; role: string | null; at: string } {
  const at = message.created_at ?? '';
  return {
    id: message.id ?? `${message.message_type}-${at}-${messageText(message).slice(0, 40)}`,
    job: message.job_id ?? null,
    task: message.task_id ?? null,
    role: message.agent_role,
    at
  };
}

function line(message: Message, kind: LineEntry['kind'], words = messageText(message)): LineEntry {
  return { ...placed(message), kind, text: words };
}

function textEntry(message: Message): TextEntry | null {
  const said = messageText(message);
  const reasoning = text(message.data['reasoning']);
  if (!said.trim() && !reasoning) {
    return null;
  }
  const from = message.role === 'user' || message.role === 'assistant' ? message.role : 'system';
  const problem = text(message.data['problem']) || null;
  const thoughtFor = typeof message.data['thought_for'] === 'number' ? message.data['thought_for'] : null;
  return { ...placed(message), kind: 'text', from, text: said, reasoning, thoughtFor, problem, cut: message.cut === true };
}

/** Adds an entry, or leaves the list alone when it is there already. */
export function withEntry(state: RunState, entry: Entry): RunState {
  if (state.entries.some(one => one.id === entry.id && one.kind === entry.kind)) {
    return state;
  }
  const entries = [...state.entries, entry];
  const surplus = entries.length - MOST_ENTRIES;
  return surplus > 0
    ? { ...state, entries: entries.slice(surplus), leftOut: state.leftOut + surplus }
    : { ...state, entries };
}

function withTaskRole(state: RunState, { task_id, agent_role }: Message): RunState {
  return task_id && agent_role ? { ...state, taskRoles: { ...state.taskRoles, [task_id]: agent_role } } : state;
}

/** An answer stands beside its question; `null` is for a question that was withdrawn. */
export function withAnswer(state: RunState, questionId: string, answer: string | null): RunState {
  const entries = state.entries.map(entry => (entry.kind === 'question' && entry.question.id === questionId ? { ...entry, answer } : entry));
  return { ...state, entries };
}

interface CallFacts {
  callId: string;
  tool: string;
  parameters: Record<string, unknown>;
}

export function callFacts(data: Record<string, unknown>): CallFacts {
  const parameters = data['parameters'];
  return { callId: text(data['call_id']), tool: text(data['tool']), parameters: isRecord(parameters) ? parameters : {} };
}

export function withCall(
  state: RunState,
  { callId, tool, parameters, ...place }: CallFacts & { job: string | null; task: string | null; role: string | null; at: string }
): RunState {
  const blank = { ok: null, summary: '', refused: '', output: '', result: '', diff: '', endedAt: null };
  return withEntry(state, { ...place, id: callId, kind: 'call', tool, parameters, ...blank });
}

/** Changes one call; a result whose call was left out of the saved card is left out as well. */
export function changeCall(state: RunState, callId: string, change: (call: CallEntry) => Partial<CallEntry>): RunState {
  const place = state.entries.findIndex(entry => entry.kind === 'call' && entry.id === callId);
  if (place < 0) {
    return state;
  }
  const entries = [...state.entries];
  const call = entries[place] as CallEntry;
  entries[place] = { ...call, ...change(call) };
  return { ...state, entries };
}

export function outcome(data: Record<string, unknown>): Pick<CallEntry, 'ok' | 'summary' | 'refused'> {
  const error = data['error'];
  const why = isRecord(error) ? text(error['message']) : text(error);
  const refused = isRecord(error) ? text(error['code']) : '';
  return { ok: data['ok'] === true, summary: text(data['summary']) || why, refused };
}

function withResult(state: RunState, message: Message): RunState {
  const facts = message.data['facts'];
  const diff = text(message.data['diff']) || (isRecord(facts) ? text(facts['diff']) : '');
  return changeCall(state, text(message.data['call_id']), call => ({
    ...outcome(message.data),
    result: messageText(message),
    diff,
    endedAt: message.created_at ?? call.endedAt
  }));
}

