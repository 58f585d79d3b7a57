/** Groups entries for reading: read-only calls collapse into one line. */

import { counted, t } from '../text/translate';
import { delegationsOf, type CallEntry, type Entry, type RunState, type TaskState } from './state';

const FILES = new Set([
  'read_file',
  'get_file_info',
  'read_notebook',
  'list_directory',
  'describe_table'
]);
const VARIABLES = new Set(['list_variables', 'inspect_variable']);
const SEARCHES = new Set(['grep', 'search_code', 'search_symbol', 'find_tools']);

export type Block =
  | Entry
  | { kind: 'reads'; id: string; task: string | null; role: string | null; calls: CallEntry[] };

function onlyLooks({ tool, ok }: CallEntry): boolean {
  return ok !== false && (FILES.has(tool) || VARIABLES.has(tool) || SEARCHES.has(tool));
}

export function fold(entries: readonly Entry[]): Block[] {
  const found: Block[] = [];
  for (const entry of entries) {
    const last = found[found.length - 1];
    if (entry.kind === 'call' && onlyLooks(entry)) {
      if (last?.kind === 'reads' && last.task === entry.task) {
        found[found.length - 1] = { ...last, calls: [...last.calls, entry] };
      } else {
        found.push({
          kind: 'reads',
          id: `reads-${entry.id}`,
          task: entry.task,
          role: entry.role,
          calls: [entry]
        });
      }
    } else {
      found.push(entry);
    }
  }
  return found;
}

/** "Looked at 4 files and 2 variables". */
export function readsSentence(calls: readonly CallEntry[]): string {
  const targets = (tools: Set<string>, ...keys: string[]): number =>
    new Set(
      calls
        .filter(({ tool }) => tools.has(tool))
        .map(call => keys.map(key => call.parameters[key]).find(Boolean) ?? call.id)
    ).size;
  const files = targets(FILES, 'path');
  const variables = targets(VARIABLES, 'name');
  const looked = [
    files && counted(files, '%1 file', '%1 files'),
    variables && counted(variables, '%1 variable', '%1 variables')
  ].filter(part => part !== 0);
  const searches = calls.filter(({ tool }) => SEARCHES.has(tool)).length;
  const searched = searches > 0 ? counted(searches, '%1 search', '%1 searches') : '';
  if (looked.length === 0) {
    return t('Searched: %1', searched);
  }
  const things = looked.length === 2 ? t('%1 and %2', looked[0]!, looked[1]!) : looked[0]!;
  return searched ? t('Looked at %1, %2', things, searched) : t('Looked at %1', things);
}

type MainState = Pick<RunState, 'entries' | 'plan' | 'tasks' | 'goal' | 'jobs'>;

/** Entries of the main column; those of a plan step or delegated task are shown with it. */
export function mainEntries(state: MainState): Entry[] {
  const tasks =
    state.plan?.steps.flatMap(step => state.tasks[step.id] ?? []) ?? delegationsOf(state);
  const own = new Set(tasks.flatMap(({ id, earlier }) => [...earlier, id]));
  return state.entries.filter(
    entry => !(entry.task && own.has(entry.task)) && !isRedundant(state, entry)
  );
}

/** A delegated task (or the start) and the agent's entries up to the next one. */
interface Segment {
  task: TaskState | null;
  at: number;
  after: Entry[];
}

/**
 * Splits the main column where tasks were delegated. Tasks older than the oldest entry come first.
 */
export function segments(state: RunState, entries: readonly Entry[]): Segment[] {
  const placeOf = (task: TaskState): number =>
    state.entries.findIndex(({ kind, task: id }) => kind === 'assignment' && id === task.id);
  const delegated = delegationsOf(state).map((task): Segment => ({
    task,
    at: placeOf(task),
    after: []
  }));
  const found = [{ task: null, at: -2, after: [] }, ...delegated].sort(
    (one, other) => one.at - other.at
  );
  for (const entry of entries.filter(one => !isDelegationCall(state, one))) {
    const at = state.entries.indexOf(entry);
    found
      .filter(one => one.at < at)
      .pop()
      ?.after.push(entry);
  }
  return found;
}

/** The call that delegated a task, which has its own row; a refused one has no row. */
function isDelegationCall(state: RunState, entry: Entry): boolean {
  if (entry.kind !== 'call' || entry.tool !== 'delegate') {
    return false;
  }
  const isRunning =
    entry.ok === null && delegationsOf(state).some(({ status }) => status === 'running');
  return entry.ok === true || entry.refused === 'delegate_failed' || isRunning;
}

/** Entries that the card shows elsewhere: the goal in its title, what stopped a job at its end. */
function isRedundant(state: MainState, entry: Entry): boolean {
  if (entry.kind === 'error') {
    return Object.values(state.jobs).some(({ id, kind }) => kind !== 'check' && id === entry.job);
  }
  if (entry.kind === 'check') {
    // An earlier attempt.
    return state.entries.some(one => one.kind === 'check' && one.at > entry.at);
  }
  if (isCorrection(state, entry)) {
    return true;
  }
  if (entry.kind === 'text' && entry.from === 'user') {
    return entry.text.trim() === state.goal.trim();
  }
  // A step's instructions are not for the user, even if a newer revision dropped the step;
  // delegated tasks are.
  return (
    entry.kind === 'assignment' && (!entry.task || state.jobs[entry.job ?? '']?.kind === 'plan')
  );
}

/** Words for the agent about a rejected reply, which is shown with the problem. */
function isCorrection({ entries }: Pick<RunState, 'entries'>, entry: Entry): boolean {
  return (
    entry.kind === 'text' &&
    entry.from === 'system' &&
    entries.some(one => one.kind === 'text' && one.problem && entry.text.includes(one.problem))
  );
}

export function entriesOfTask(state: RunState, taskId: string): Entry[] {
  return state.entries.filter(
    entry =>
      entry.task === taskId &&
      entry.kind !== 'assignment' &&
      entry.kind !== 'outcome' &&
      !isCorrection(state, entry)
  );
}
