/** Converts stored messages to entries; idempotent. */

import { assumptionsOf, figuresOf } from '../effects/parse';
import { mentionsOf } from '../mentions/Chips';
import type { CardState, DataEffect, EventOf, Message, MessageOf, UserDecision } from '../types';
import { t } from '../text/translate';
import { questionOf } from './parse';
import type { CallEntry, Entry, LineEntry, RunState, TextEntry } from './state';

/** Older entries are dropped, to keep cards of very long runs light. */
const MAX_ENTRIES = 1500;
/** The newest part of a running tool's output is kept. */
export const MAX_OUTPUT = 20_000;

function messageText(message: Message): string {
  return message.content.map(part => (part.type === 'text' ? part.text : '')).join('');
}

export function withMessage(state: RunState, message: Message): RunState {
  switch (message.message_type) {
    case 'tool_call':
      return withCall(state, message.data, placed(message));
    case 'tool_result':
      return withResult(state, message);
    case 'task_assignment':
      return withEntry(withTaskRole(state, message), line(message, 'assignment'));
    default: {
      const answer = message.message_type === 'text' && message.data.answer;
      if (answer) {
        return withAnswer(state, answer.question_id, answer.value);
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
      return {
        ...placed(message),
        kind: 'question',
        question: questionOf(message.data),
        answer: undefined
      };
    case 'review':
      return { ...placed(message), kind: 'review', review: message.data };
    case 'task_result':
      return line(message, 'outcome');
    case 'error':
      return line(message, 'error');
    case 'text':
      return userEntry(message) ?? textEntry(message);
    default:
      return null;
  }
}

/** User actions that are stored as messages. */
function userEntry(message: MessageOf<'text'>): Entry | null {
  const { approved_revision, by = 'person', reproduction } = message.data;
  if (reproduction) {
    return { ...placed(message), kind: 'check', check: reproduction };
  }
  return typeof approved_revision === 'number'
    ? {
        ...line(message, 'decision', by === 'person' ? t('You approved the plan.') : undefined),
        allowed: true
      }
    : null;
}

interface Place {
  job: string | null;
  task: string | null;
  role: string | null;
  at: string;
}

function placed(message: Message): Place & { id: string } {
  return {
    id: message.id,
    job: message.job_id,
    task: message.task_id,
    role: message.agent_role,
    at: message.created_at
  };
}

function line(message: Message, kind: LineEntry['kind'], words = messageText(message)): LineEntry {
  return { ...placed(message), kind, text: words };
}

function textEntry(message: MessageOf<'text'>): TextEntry | null {
  const body = messageText(message);
  const {
    reasoning = '',
    thought_seconds: thoughtFor = 0,
    cut: ended = '',
    problem,
    figures,
    assumptions,
    mentions
  } = message.data;
  if (!body.trim() && !reasoning && !problem) {
    return null;
  }
  const from = message.role === 'user' || message.role === 'assistant' ? message.role : 'system';
  return {
    ...placed(message),
    kind: 'text',
    from,
    text: body,
    reasoning,
    thoughtFor,
    problem: problem || null,
    cut: message.cut === true,
    ended,
    figures: figuresOf(figures),
    assumptions: assumptionsOf(assumptions),
    mentions: mentionsOf(mentions),
    pictures: picturesOf(message)
  };
}

/** Images of the user; those from tools are shown elsewhere. */
function picturesOf({ content }: Message): string[] {
  return content.flatMap(part =>
    part.type === 'image' && /^image\/(png|jpeg|webp|gif)$/.test(part.media_type)
      ? [`data:${part.media_type};base64,${part.data}`]
      : []
  );
}

export function withDecision(
  state: RunState,
  { id, job_id, task_id, what, allowed, feedback, by, at }: UserDecision
): RunState {
  const words = allowed ? t('You allowed: %1', what) : t('You did not allow: %1', what);
  const text = [words, by && t('in %1', by), feedback].filter(Boolean).join(' — ');
  return withEntry(state, {
    id: `decision-${id}`,
    kind: 'decision',
    job: job_id,
    task: task_id,
    role: null,
    at,
    allowed,
    text
  });
}

/** The summary that replaced messages which no longer fit into the context. */
export function withSummary(
  state: RunState,
  { id, job_id: job, task_id: task, at, message, text: detail }: CardState['summaries'][number]
): RunState {
  return withEntry(state, {
    ...{ id, job, task, at, detail },
    kind: 'notice',
    role: null,
    text: message
  });
}

/** Sorts by time: decisions are not messages and are appended after them. */
export function inOrder(state: RunState): RunState {
  return {
    ...state,
    entries: [...state.entries].sort((one, other) =>
      one.at < other.at ? -1 : one.at > other.at ? 1 : 0
    )
  };
}

/** Appends an entry unless present; a text entry may gain details. */
export function withEntry(state: RunState, entry: Entry): RunState {
  const isSame = (one: Entry): boolean => one.id === entry.id && one.kind === entry.kind;
  const known = state.entries.find(isSame);
  if (known) {
    const isNews = entry.kind === 'text' && known.kind === 'text' && !entry.cut;
    return isNews
      ? { ...state, entries: state.entries.map(one => (isSame(one) ? entry : one)) }
      : state;
  }
  const entries = [...state.entries, entry];
  const surplus = entries.length - MAX_ENTRIES;
  return surplus > 0
    ? { ...state, entries: entries.slice(surplus), leftOut: state.leftOut + surplus }
    : { ...state, entries };
}

function withTaskRole(state: RunState, { task_id, agent_role }: Message): RunState {
  return task_id && agent_role
    ? { ...state, taskRoles: { ...state.taskRoles, [task_id]: agent_role } }
    : state;
}

/** `null`: the question was withdrawn. */
export function withAnswer(state: RunState, questionId: string, answer: string | null): RunState {
  const entries = state.entries.map(entry =>
    entry.kind === 'question' && entry.question.id === questionId ? { ...entry, answer } : entry
  );
  return { ...state, entries };
}

export function withCall(
  state: RunState,
  { call_id, tool, parameters = {} }: EventOf<'tool-call'>['data'],
  place: Place
): RunState {
  const blank = {
    ok: null,
    summary: '',
    refused: '',
    output: '',
    result: '',
    diff: '',
    effects: [],
    setAside: null,
    seconds: 0
  };
  return withEntry(state, { ...place, id: call_id, kind: 'call', tool, parameters, ...blank });
}

/** Ignores results whose call was left out of the saved card. */
export function changeCall(
  state: RunState,
  callId: string,
  change: (call: CallEntry) => Partial<CallEntry>
): RunState {
  const place = state.entries.findIndex(entry => entry.kind === 'call' && entry.id === callId);
  if (place < 0) {
    return state;
  }
  const entries = [...state.entries];
  const call = entries[place] as CallEntry;
  entries[place] = { ...call, ...change(call) };
  return { ...state, entries };
}

/** A saved card has only a summary of an effect, so later data replaces it. */
export function withEffect(state: RunState, effect: DataEffect): RunState {
  const added = ({ effects }: CallEntry): Partial<CallEntry> => {
    const isKnown = effects.some(({ of }) => of === effect.of);
    return {
      effects: isKnown
        ? effects.map(known => (known.of === effect.of ? effect : known))
        : [...effects, effect]
    };
  };
  return effect.call_id ? changeCall(state, effect.call_id, added) : state;
}

export function outcome({
  ok,
  summary,
  error,
  seconds
}: EventOf<'tool-result'>['data']): Pick<CallEntry, 'ok' | 'summary' | 'refused' | 'seconds'> {
  return {
    ok,
    summary: summary || error?.message || '',
    refused: error?.code ?? '',
    seconds: seconds ?? 0
  };
}

function withResult(state: RunState, message: MessageOf<'tool_result'>): RunState {
  const { data } = message;
  return changeCall(state, data.call_id, () => ({
    ...outcome(data),
    result: messageText(message),
    diff: data.facts?.diff ?? '',
    setAside: data.facts?.set_aside ?? null
  }));
}
