/** What the server (or the kernel) sends: the shapes of CONTRACT, as far as this version uses them. */

/** The connected model, and what to do when it is not usable. */
export interface ModelHealth {
  provider: string;
  name: string | null;
  base_url: string | null;
  ready: boolean;
  /** One sentence that says what to do; null when ready. */
  why_not: string | null;
  /** Who named it; absent in cards of earlier versions, like what follows. */
  source?: 'built-in' | 'environment' | 'configuration' | 'chosen';
  problem?: 'address' | 'key' | 'model' | 'server' | 'loading' | null;
  /** What its server has, where the model is the problem. */
  models?: string[];
}

/** Something the user should put right, although the agent can go on. */
export interface Problem {
  code: string;
  message: string;
}

/** The answer to `GET health`. */
export interface Health {
  version: string;
  model: ModelHealth;
  sandbox: string;
  workspace: string;
  problems: Problem[];
}

/** One item of the answer to `GET roles`. */
export interface Role {
  name: string;
  label: string;
  icon: string;
  colour: string;
  description: string;
  permissions: string[];
  tools: string[];
  delegates_to: string[];
}

/** Every list of the API comes in this envelope. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** The first card: who would answer, and whether anything is missing. */
export interface StatusCardData {
  kind: 'status';
  role: string | null;
  title: string;
  note: string | null;
  health: Health;
}

/** What the widget's `card` trait and the notebook's output hold. A newer kernel may send kinds that this bundle does not know. */
export type CardData = StatusCardData | RunCardData | { kind: string };

export type JobStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'interrupted';
export type StepStatus = JobStatus | 'pending' | 'skipped';

/** One stored event of a context; `seq` grows by one. */
export interface Event {
  seq: number;
  type: string;
  context_id: string;
  job_id: string | null;
  task_id: string | null;
  created_at: string;
  data: Record<string, unknown>;
}

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** In US dollars, where the model's server says it. */
  cost?: number | null;
}

export interface PlanStep {
  id: string;
  step_number: number;
  action: string;
  reason: string;
  tools_needed: string[];
  files: string[];
  depends_on: string[];
  estimated_time: string;
  status: StepStatus;
}

export interface Plan {
  type: 'plan';
  id: string;
  format_version: string;
  goal: string;
  steps: PlanStep[];
  estimated_total_time: string;
  risks: string[];
  prerequisites: string[];
  /** Steps for which a saved card had no room. */
  steps_left_out?: number;
}

/** The answer to `GET` and `PUT context/{id}/plan`. */
export interface PlanAnswer {
  plan: Plan | null;
  plan_id: string | null;
  revision: number;
  made_at: string | null;
  /** Files that have changed since the plan was made. */
  stale: string[];
}

export interface Task {
  id: string;
  job_id?: string;
  step_id: string;
  /** Who works on it; absent in cards of earlier versions. */
  role?: string;
  description?: string;
  status: StepStatus;
  result?: string | null;
  error?: string | null;
  created_at?: string;
  completed_at?: string | null;
}

export type JobKind = 'message' | 'plan' | 'delegation' | 'workflow' | 'guest' | 'check';

/** What a job is, as it says itself. */
export interface JobFacts {
  id: string;
  kind: JobKind;
  role: string;
  plan_id: string | null;
  plan_revision: number | null;
  /** The job on whose card it is shown. */
  card_id: string;
  status: JobStatus;
  error: string | null;
  created_at: string;
  completed_at: string | null;
}

export interface Job extends JobFacts {
  context_id: string;
  request: string;
  usage: Usage;
  tasks: Task[];
}

export interface QuestionOption {
  label: string;
  value: string;
  description: string;
}

export interface Question {
  id: string;
  job_id?: string | null;
  task_id?: string | null;
  question: string;
  context: string;
  severity: string;
  options: QuestionOption[];
  default: string | null;
  allow_custom: boolean;
}

export type Scope = 'once' | 'session' | 'workspace' | 'global';

/** Something the agent may do only if the user says so. */
export interface PermissionRequest {
  id: string;
  job_id?: string | null;
  task_id?: string | null;
  agent_role?: string | null;
  tool: string;
  parameters: Record<string, unknown>;
  resource: string;
  risk: string;
  why: string[];
  scopes: Scope[];
  /** What a lasting "allow" would write. */
  rules?: string[];
  /** The whole of what would be done, ready to show. */
  shown?: { kind: string; text: string; complete: boolean };
  /** What a checkpoint cannot bring back. */
  uncovered?: string[];
  status?: string;
}

export interface Finding {
  file: string;
  line: number | null;
  severity: string;
  comment: string;
  suggestion: string;
}

export interface Review {
  summary: string;
  verdict: string;
  findings: Finding[];
}

/** A message as an event brings it, or shortened as a saved card holds it. */
export interface Message {
  id?: string;
  job_id?: string | null;
  task_id?: string | null;
  role: string;
  agent_role: string | null;
  message_type: string;
  content?: { type: string; text?: string }[];
  text?: string;
  cut?: boolean;
  data: Record<string, unknown>;
  created_at?: string;
}

/** How a run stood when its card was saved. */
export interface RunSnapshot {
  status: JobStatus;
  error: string | null;
  role: string;
  model: string | null;
  goal: string;
  messages: Message[];
  /** Older messages that were left out to keep the notebook small. */
  left_out?: number;
  plan: Plan | null;
  plan_id?: string | null;
  revision: number;
  made_at: string | null;
  stale: string[];
  /** All jobs of the card, oldest first; absent in cards of earlier versions. */
  jobs?: JobFacts[];
  tasks: Task[];
  questions: Question[];
  permissions: PermissionRequest[];
  usage: Usage | null;
  /** Who asked for it, if the server knew a name. */
  asked_by?: string;
  /** What they approved or denied, a line each. */
  decided?: string[];
  started_at: string | null;
  ended_at: string | null;
  /** All events up to here are in it. */
  seq?: number;
}

export interface RunCardData {
  version: number;
  kind: 'run';
  host: 'server' | 'kernel';
  context_id: string;
  job_id: string;
  /** The cell was run again with the same text: what it would send, should the user want that. */
  again?: Again;
  role: string;
  title: string;
  snapshot: RunSnapshot;
  saved_at: string | null;
}

/** A request that was made before: words, or the approval of a plan. */
export interface Again {
  content?: string;
  role?: string;
  notebook?: string | null;
  plan_id?: string;
  revision?: number;
}

/** A notebook that runs from top to bottom in a second kernel, and what comes of it. */
export interface Reproduction {
  /** Null as long as it is not known. */
  runs: boolean | null;
  failed: { cell: number; line: number | null; error: string } | null;
  /** Code cells that are run, and those that have run. */
  cells: number;
  ran: number;
  hidden: readonly { cell: number; message: string }[];
  left_out: number;
  seconds: number;
  notebook: string;
  job_id: string | null;
}

/** The answer to `GET context/{id}/reproduce`: what runs now, and the notebook that can be tried. */
export interface ReproductionAnswer {
  reproduction: Record<string, unknown> | null;
  notebook: string | null;
}

/** The answer to `GET jobs/{id}/card`. */
export interface CardAnswer {
  card: RunCardData;
  markdown: string;
  /** A short form, for where there is no Markdown either. */
  text?: string;
}

/** The answer to `GET jobs/{id}/card?whole=true`. */
export interface WholeCardAnswer extends CardAnswer {
  state: CardState;
}

/** How everything stands that a run card shows. */
export interface CardState {
  /** Every event up to here is in the rest. */
  seq: number;
  busy: string | null;
  /** Null when there are too many to bring at once. */
  messages: Message[] | null;
  plan: PlanAnswer | null;
  checkpoints: number;
  /** These are null for who may not decide, as a kernel. */
  questions: Record<string, unknown>[] | null;
  permissions: Record<string, unknown>[] | null;
  reproduction: ReproductionAnswer | null;
  /** Null until a plan was carried out. */
  audit: Audit | null;
}

export interface Deviation {
  kind: string;
  what: string;
}

/** The answer to `GET context/{id}/audit`, as far as cards show it. */
export interface Audit {
  steps: {
    id: string;
    number: number;
    action: string;
    status: StepStatus;
    actual: { tools: { tool: string; calls: number; failed: number }[]; files: string[]; seconds: number };
    deviations: Deviation[];
  }[];
}

export interface Checkpoint {
  id: string;
  created_at: string;
  label: string;
  tool: string | null;
  step_id: string | null;
  files: unknown[];
  uncovered: unknown[];
  job_id?: string | null;
}

/** The answer to `GET context/{id}/checkpoints`. */
export interface Checkpoints extends Page<Checkpoint> {
  /** What those of all conversations take, in bytes, and when the oldest was taken. */
  store?: { bytes: number; limit: number; oldest: string | null };
}

/** A cell that both the agent and the user changed. */
export interface SkippedCell {
  cell_id: string;
  /** Where it stands, counted from 1; null if it was deleted. */
  number: number | null;
  /** null if the agent inserted it. */
  before: string | null;
  /** null if it was deleted. */
  now: string | null;
}

/** A file that a rollback leaves as it is. */
export interface Skipped {
  path: string;
  why: string;
  /** Whether it goes back all the same if the user says so. */
  can_overwrite?: boolean;
  /** Of a notebook the rest of which goes back: the cells that stay. */
  cells?: SkippedCell[];
}

/** The body of `POST checkpoints/{id}/rollback`. */
export interface RollbackRequest {
  scope?: 'card' | 'since';
  dry_run: boolean;
  /** Files that would stay, and that the user wants back all the same. */
  overwrite?: readonly string[];
  /** The same for cells, by their ids, for each notebook. */
  overwrite_cells?: Readonly<Record<string, readonly string[]>>;
  /** The `preview` of a dry run; refused (`preview_changed`) if something else would happen. */
  preview?: string | undefined;
}

/** The answer to `POST checkpoints/{id}/rollback`. */
export interface Rollback {
  restored: string[];
  removed: string[];
  skipped: Skipped[];
  checkpoint_id: string | null;
  /** What else the user should know, such as that no kernel is brought back. */
  notes?: string[];
  /** Stands for all that happens. */
  preview?: string;
}

/** One file of the answer to `GET checkpoints/{id}/diff`. */
export interface FileDiff {
  path: string;
  status: string;
  /** A unified diff; null where there is nothing to read (binary, too large). */
  diff: string | null;
  cells?: { id: string; number?: number; status: string; diff: string }[];
  why?: string | null;
}
