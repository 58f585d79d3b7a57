/** Immutable state of a run card. */

import type {
  Assumption,
  DataEffect,
  Figure,
  Guidance,
  Mention,
  JobKind,
  JobStatus,
  PermissionRequest,
  Plan,
  Question,
  Reproduction,
  Review,
  SetAside,
  StepStatus,
  Usage
} from '../types';

interface Placed {
  id: string;
  job: string | null;
  task: string | null;
  role: string | null;
  at: string;
}

export interface TextEntry extends Placed {
  kind: 'text';
  from: 'user' | 'assistant' | 'system';
  text: string;
  reasoning: string;
  /** Seconds; 0 in records of older versions. */
  thoughtFor: number;
  /** The server's reason for rejecting the reply. */
  problem: string | null;
  /** The saved card has only its beginning. */
  cut: boolean;
  /** Why the reply ended early, or empty. */
  ended: string;
  figures: readonly Figure[];
  assumptions: readonly Assumption[];
  mentions: readonly Mention[];
  /** Data URLs of the user's images. */
  pictures: readonly string[];
}

export interface CallEntry extends Placed {
  kind: 'call';
  tool: string;
  parameters: Record<string, unknown>;
  /** Null while running. */
  ok: boolean | null;
  summary: string;
  /** Error code, if it failed. */
  refused: string;
  /** Streamed output so far. */
  output: string;
  /** Full result, once available. */
  result: string;
  /** Unified diff, if the tool changed a file. */
  diff: string;
  effects: readonly DataEffect[];
  setAside: SetAside | null;
  /** How long it worked; 0 while it runs. */
  seconds: number;
}

export interface QuestionEntry extends Placed {
  kind: 'question';
  question: Question;
  /** Undefined while open, null if withdrawn. */
  answer: string | null | undefined;
}

export interface ReviewEntry extends Placed {
  kind: 'review';
  review: Review;
}

/** Result of a notebook check. */
export interface CheckEntry extends Placed {
  kind: 'check';
  check: Reproduction;
}

/** A single line: a notice, a user's decision. */
export interface LineEntry extends Placed {
  kind: 'plan' | 'notice' | 'error' | 'decision' | 'assignment' | 'outcome';
  text: string;
  /** Details of a notice, shown when opened. */
  detail?: string;
  setAside?: SetAside;
  /** Replaced by the next notice of its kind. */
  retry?: boolean;
  allowed?: boolean;
}

export type Entry = TextEntry | CallEntry | QuestionEntry | ReviewEntry | CheckEntry | LineEntry;

/** A streaming reply. */
export interface Draft {
  job: string | null;
  task: string | null;
  role: string | null;
  text: string;
  reasoning: string;
  at: string;
}

export interface WorkTime {
  /** Seconds until it last stopped working. */
  worked: number;
  since: string | null;
}

export interface JobState extends WorkTime {
  id: string;
  kind: JobKind;
  role: string;
  planId: string | null;
  planRevision: number | null;
  status: JobStatus;
  error: string | null;
  startedAt: string | null;
}

export interface TaskState extends WorkTime {
  id: string;
  role: string;
  description: string;
  status: StepStatus;
  error: string | null;
  result: string | null;
  /** Earlier tasks of the same step, before a review sent it back, oldest first. */
  earlier: readonly string[];
}

export interface RunState {
  contextId: string;
  /** The last event applied. */
  seq: number;
  /** Sums, as of tokens, include all events up to this one; drafts are streamed from `seq`. */
  summedTo: number;
  /** The job that the card was created for. */
  root: string;
  /** Jobs shown on this card; the last one is current. */
  follows: readonly string[];
  jobs: Readonly<Record<string, JobState>>;
  /** The conversation's running job, on this card or not. */
  busy: string | null;
  /** The conversation's role; null until a server tells. */
  currentRole: string | null;
  /** Chosen on this card for its next message. */
  chosenRole: string | null;
  model: string | null;
  goal: string;
  entries: readonly Entry[];
  /** Number of older messages that are missing. */
  leftOut: number;
  /** By task, or by job outside of tasks. */
  drafts: Readonly<Record<string, Draft>>;
  plan: Plan | null;
  planId: string | null;
  revision: number;
  madeAt: string | null;
  stale: readonly string[];
  /** What approving the plan permits each role, in the server's words; empty without roles. */
  rights: string;
  /**
   * By step id, for the newest execution of this plan revision. Delegated tasks are keyed by their
   * own id.
   */
  tasks: Readonly<Record<string, TaskState>>;
  taskRoles: Readonly<Record<string, string>>;
  questions: readonly Question[];
  permissions: readonly PermissionRequest[];
  /** Whether somebody else answered what the user answered last. */
  late: boolean;
  usage: Usage;
  /** Of the current or last reply. */
  pace: Pace | null;
  /** Checkpoints taken while the card watched. */
  checkpoints: number;
  guidance: readonly Guidance[];
  /** Counts events about the notebook check; a change triggers a reload. */
  checks: number;
}

/** Output speed, and what is left of the limits: writing does not count as waiting. */
export interface Pace {
  /** Tokens per second. */
  rate: number;
  turns_left: number;
  seconds_left: number;
}

const NO_USAGE: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

export function emptyRun(contextId: string, jobId: string): RunState {
  return {
    contextId,
    seq: 0,
    summedTo: 0,
    root: jobId,
    follows: [jobId],
    jobs: {},
    busy: null,
    currentRole: null,
    chosenRole: null,
    model: null,
    goal: '',
    entries: [],
    leftOut: 0,
    drafts: {},
    plan: null,
    planId: null,
    revision: 0,
    madeAt: null,
    stale: [],
    rights: '',
    tasks: {},
    taskRoles: {},
    questions: [],
    permissions: [],
    late: false,
    usage: NO_USAGE,
    pace: null,
    checkpoints: 0,
    guidance: [],
    checks: 0
  };
}

/** The card's current job, apart from notebook checks. */
export function presentJob(state: RunState): JobState | null {
  const known = state.follows
    .flatMap(id => state.jobs[id] ?? [])
    .filter(({ id, kind }) => kind !== 'check' || id === state.root);
  return known.find(job => job.id === state.busy) ?? known[known.length - 1] ?? null;
}

/** Whom this card is about: the role chosen on it, else the one that worked last. */
export function roleOf(state: RunState): string {
  return state.chosenRole ?? presentJob(state)?.role ?? 'actor';
}

/** Who gets a message that names no role. */
export function currentRole(state: RunState): string {
  return state.currentRole ?? roleOf(state);
}

/** The newest job that executes or executed this plan revision. */
export function executionOf(state: RunState): JobState | null {
  const executions = state.follows
    .map(id => state.jobs[id])
    .filter(
      job =>
        job?.kind === 'plan' && job.planId === state.planId && job.planRevision === state.revision
    );
  return executions[executions.length - 1] ?? null;
}

/**
 * Steps are keyed by their ids in the plan; delegated tasks also by job, since two jobs on a card
 * may both have a first task.
 */
export function taskKey(kind: JobKind | undefined, taskId: string, stepId: string): string {
  return kind === undefined || kind === 'plan' ? stepId : taskId;
}

/** Delegated tasks, if there is no plan to execute. */
export function delegationsOf(state: Pick<RunState, 'plan' | 'tasks'>): TaskState[] {
  return state.plan === null ? Object.values(state.tasks) : [];
}

export function runningCheck(state: RunState): JobState | null {
  const job =
    state.busy !== null && state.follows.includes(state.busy) ? state.jobs[state.busy] : undefined;
  return job?.kind === 'check' ? job : null;
}

export function waitsIn(state: RunState, taskId: string): boolean {
  return [...state.questions, ...state.permissions].some(({ task_id }) => task_id === taskId);
}

export function isPlanReady(state: RunState): boolean {
  return state.plan !== null && executionOf(state) === null;
}

const CELL_TOOLS = [
  'run_cell',
  'insert_cell',
  'edit_cell',
  'move_cell',
  'delete_cell',
  'run_code',
  'create_notebook'
];

/** Whether this card's work ran or changed cells, so that the notebook may be broken. */
export function hasTouchedCells(state: RunState): boolean {
  return state.entries.some(
    entry =>
      entry.kind === 'call' &&
      entry.ok === true &&
      CELL_TOOLS.includes(entry.tool) &&
      !isInScratch(entry)
  );
}

/** Whether code ran in scratch, which cannot change anything. */
export function isInScratch({ parameters }: Pick<CallEntry, 'parameters'>): boolean {
  return parameters['where'] === 'scratch';
}

export function isFinal(status: string): boolean {
  return status !== 'running' && status !== 'waiting' && status !== 'pending';
}

/** A running job with an open question counts as waiting. */
export function statusOf(state: RunState): JobStatus | null {
  const job = presentJob(state);
  if (job === null || isFinal(job.status)) {
    return job?.status ?? null;
  }
  return state.questions.length + state.permissions.length > 0 ? 'waiting' : job.status;
}
