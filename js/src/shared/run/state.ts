/** What a run card knows: a value that the reducer makes anew with each event. */

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
  StepStatus,
  Usage
} from '../types';

interface Placed {
  id: string;
  job: string | null;
  /** The plan step or delegated task it belongs to. */
  task: string | null;
  /** The agent that said or did it. */
  role: string | null;
  at: string;
}

export interface TextEntry extends Placed {
  kind: 'text';
  from: 'user' | 'assistant' | 'system';
  text: string;
  reasoning: string;
  /** How long it thought, where the card saw it. */
  thoughtFor: number | null;
  /** Why the reply could not be used, in the words of the server. */
  problem: string | null;
  /** The saved card has only the beginning of it. */
  cut: boolean;
  figures: readonly Figure[];
  assumptions: readonly Assumption[];
  mentions: readonly Mention[];
  /** The user's, as addresses that hold them. */
  pictures: readonly string[];
}

export interface CallEntry extends Placed {
  kind: 'call';
  tool: string;
  parameters: Record<string, unknown>;
  /** Null while it runs. */
  ok: boolean | null;
  summary: string;
  /** The code of the error, if it failed. */
  refused: string;
  /** What it has written so far. */
  output: string;
  /** The whole result, once it is there. */
  result: string;
  /** A unified diff, where the tool changed a file. */
  diff: string;
  /** What it did to tables. */
  effects: readonly DataEffect[];
  endedAt: string | null;
}

export interface QuestionEntry extends Placed {
  kind: 'question';
  question: Question;
  /** Undefined while it waits, null when it was withdrawn. */
  answer: string | null | undefined;
}

export interface ReviewEntry extends Placed {
  kind: 'review';
  review: Review;
}

/** What came of running the notebook anew. */
export interface CheckEntry extends Placed {
  kind: 'check';
  check: Reproduction;
}

/** A line in passing: a notice, a decision of the user, a change of role. */
export interface LineEntry extends Placed {
  kind: 'plan' | 'notice' | 'error' | 'role' | 'decision' | 'assignment' | 'outcome';
  text: string;
  /** What stands behind a notice, for whoever opens it. */
  detail?: string;
  /** A notice that the next of its kind takes the place of. */
  retry?: boolean;
  /** For decisions. */
  allowed?: boolean;
  /** The decision was to carry out the plan. */
  approval?: boolean;
}

export type Entry = TextEntry | CallEntry | QuestionEntry | ReviewEntry | CheckEntry | LineEntry;

/** A reply while it streams. */
export interface Draft {
  job: string | null;
  task: string | null;
  role: string | null;
  text: string;
  reasoning: string;
  /** When the first thought came, and when the first word did. */
  thinkingSince: string | null;
  thoughtUntil: string | null;
  at: string;
}

export interface JobState {
  id: string;
  kind: JobKind;
  role: string;
  planId: string | null;
  planRevision: number | null;
  status: JobStatus;
  error: string | null;
  startedAt: string | null;
  endedAt: string | null;
}

export interface TaskState {
  id: string;
  role: string;
  description: string;
  status: StepStatus;
  error: string | null;
  result: string | null;
  startedAt: string | null;
  endedAt: string | null;
  /** The tasks of the same step before a review sent it back, oldest first. */
  earlier: readonly string[];
}

export interface RunState {
  contextId: string;
  /** The last event that is in it. */
  seq: number;
  /** The job that the card was made for. */
  root: string;
  /** The jobs whose work this card shows; the last one is the present one. */
  follows: readonly string[];
  jobs: Readonly<Record<string, JobState>>;
  /** The job that runs in this context now, whether this card follows it or not. */
  busy: string | null;
  /** The role that the user has chosen on this card for what comes next. */
  chosenRole: string | null;
  model: string | null;
  goal: string;
  entries: readonly Entry[];
  /** Older messages that are not here. */
  leftOut: number;
  /** By task, or by job outside of tasks. */
  drafts: Readonly<Record<string, Draft>>;
  plan: Plan | null;
  planId: string | null;
  revision: number;
  madeAt: string | null;
  stale: readonly string[];
  /** What approving the plan lets each role do, as the server says it; empty without roles. */
  rights: string;
  /**
   * By step id: of the newest execution of this revision of the plan. What an agent delegated is
   * here by its own id.
   */
  tasks: Readonly<Record<string, TaskState>>;
  /** The role that works on a task. */
  taskRoles: Readonly<Record<string, string>>;
  questions: readonly Question[];
  permissions: readonly PermissionRequest[];
  usage: Usage;
  /** Of the reply that is being written, or was last. */
  pace: Pace | null;
  /** Checkpoints that were made while the card looked on. */
  checkpoints: number;
  /** What guided its agents. */
  guidance: readonly Guidance[];
  /** How often there was news of the notebook being run anew; whoever shows it then asks. */
  checks: number;
}

/** How fast the model writes, and what is left of the limits: writing uses up no waiting. */
export interface Pace {
  /** Tokens a second. */
  rate: number;
  turns_left: number;
  seconds_left: number;
}

export const NO_USAGE: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

export function emptyRun(contextId: string, jobId: string): RunState {
  return {
    contextId,
    seq: 0,
    root: jobId,
    follows: [jobId],
    jobs: {},
    busy: null,
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
    usage: NO_USAGE,
    pace: null,
    checkpoints: 0,
    guidance: [],
    checks: 0
  };
}

/** The job that the card shows as its own now; a check of the notebook stands beside it. */
export function presentJob(state: RunState): JobState | null {
  const known = state.follows
    .flatMap(id => state.jobs[id] ?? [])
    .filter(({ id, kind }) => kind !== 'check' || id === state.root);
  return known.find(job => job.id === state.busy) ?? known[known.length - 1] ?? null;
}

/** Who gets the next message: whom the user has chosen on this card, or who worked last. */
export function roleOf(state: RunState): string {
  return state.chosenRole ?? presentJob(state)?.role ?? 'actor';
}

/** The newest job that executes, or has executed, this revision of the plan. */
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
 * Steps are found by their plan's names for them; two jobs on one card may both have delegated a
 * first task.
 */
export function taskKey(kind: JobKind | undefined, taskId: string, stepId: string): string {
  return kind === undefined || kind === 'plan' ? stepId : taskId;
}

/** What was handed to other agents, where there is no plan to execute. */
export function delegationsOf(state: Pick<RunState, 'plan' | 'tasks'>): TaskState[] {
  return state.plan === null ? Object.values(state.tasks) : [];
}

/** The check of the notebook that runs on this card. */
export function runningCheck(state: RunState): JobState | null {
  const job =
    state.busy !== null && state.follows.includes(state.busy) ? state.jobs[state.busy] : undefined;
  return job?.kind === 'check' ? job : null;
}

/** Whether a task waits for the user. */
export function waitsIn(state: RunState, taskId: string): boolean {
  return [...state.questions, ...state.permissions].some(({ task_id }) => task_id === taskId);
}

/** Whether the plan waits for the user's approval. */
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

/**
 * Whether the work on this card has run or changed cells, so that the notebook may not run any
 * more.
 */
export function hasTouchedCells(state: RunState): boolean {
  return state.entries.some(
    entry =>
      entry.kind === 'call' &&
      entry.ok === true &&
      CELL_TOOLS.includes(entry.tool) &&
      !isInScratch(entry)
  );
}

/** Whether code ran where it could change nothing, and left no trace in the notebook. */
export function isInScratch({ parameters }: Pick<CallEntry, 'parameters'>): boolean {
  return parameters['where'] === 'scratch';
}

export function isFinal(status: string): boolean {
  return status !== 'running' && status !== 'waiting' && status !== 'pending';
}

/** How the run stands, for people: a job that runs but has a question open waits. */
export function statusOf(state: RunState): JobStatus | null {
  const job = presentJob(state);
  if (job === null || isFinal(job.status)) {
    return job?.status ?? null;
  }
  return state.questions.length + state.permissions.length > 0 ? 'waiting' : job.status;
}
