/** Short names for the server's types in `schema.ts`. */

import type { components } from './schema';

type Schema = components['schemas'];

export type Health = Schema['Health'];
export type ModelHealth = Health['model'];
export type ProviderList = Schema['ProviderList'];
export type Problem = Schema['Problem'];
export type Role = Schema['RoleView'];
export type RoleLook = Schema['RoleLook'];
export type JobKind = Schema['JobKind'];
export type JobStatus = Schema['JobStatus'];
export type StepStatus = Schema['StepStatus'];
export type Job = Schema['Job'];
/** Cards of earlier versions do not say who started a job, or how long it worked. */
export type JobFacts = Omit<Schema['CardJob'], 'role' | 'by' | 'worked_seconds' | 'working_since'> &
  Partial<Pick<Schema['CardJob'], 'by' | 'worked_seconds' | 'working_since'>> & { role: string };
/** The server omits a step's role and rounds if unset. */
export type PlanStep = Required<Schema['PlanStep']>;
/** A saved card has only the first steps of a large plan. */
export type Plan = Omit<Schema['Plan'], 'steps'> & { steps: PlanStep[]; steps_left_out?: number };
export type PlanAnswer = Schema['PlanAnswer'];
export type Revision = Schema['RevisionSummary'];
export type Comparison = Schema['ComparisonAnswer'];
export type FieldChange = Schema['FieldChange'];
export type OfferedParameter = Schema['OfferedParameter'];
export type TemplateParameter = Schema['TemplateParameter'];
export type Workflow = Schema['WorkflowView'];
/** A saved card may have less than the server. */
export type Review = Pick<Schema['ReviewData'], 'summary' | 'findings'> & { verdict: string };
export type Finding = Schema['Finding'];
export type Scope = Schema['PermissionDecision']['scope'] & string;
export type Audit = Schema['Audit'];
/** An older server, or a saved card, may leave lists out. */
export type SetAside = Partial<Schema['SetAside']>;
export type BroughtBack = Schema['BroughtBack'];
export type Checkpoint = Schema['CheckpointView'];
export type Checkpoints = Schema['CheckpointList'];
/** Fields that rendering does not need may be missing. */
export type Rollback = Partial<Omit<Schema['RollbackResult'], 'skipped'>> &
  Pick<Schema['RollbackResult'], 'restored' | 'removed' | 'checkpoint_id'> & { skipped: Skipped[] };
export type Skipped = Partial<Schema['Skipped']> & Pick<Schema['Skipped'], 'path' | 'why'>;
export type SkippedCell = Schema['SkippedCell'];
export type RollbackRequest = Omit<Schema['RollbackRequest'], 'preview'> & {
  dry_run: boolean;
  preview?: string | undefined;
};
export type FileDiff = Schema['FileDiff'];
export type TableState = Schema['TableState'];
export type FieldState = Schema['FieldState'];
export type DataEffect = Schema['DataEffect'];
export type Guidance = Schema['Guidance'];
export type DataWarning = Schema['DataWarning'];
export type Expectation = Schema['Expectation'];
/** Without the id, which the server assigns. */
export type NewExpectation = Pick<Expectation, 'of' | 'check'> & Partial<Expectation>;
export type StaleCell = Schema['StaleCellView'];
export type CellRecorder = Schema['CellRecorder'];
export type Figure = Schema['Figure'];
export type Assumption = Schema['Assumption'];
export type Skill = Schema['SkillView'];
export type SkillList = Schema['SkillList'];
export type Mention = Schema['Mention'];
export type MemoryView = Schema['MemoryView'];
export type MemoryProposal = Schema['MemoryProposal'];
export type CompletionItem = Schema['CompletionItem'];
export type CompletionItems = Schema['CompletionItems'];
export type Reproduction = Omit<Schema['Reproduction'], 'failed' | 'hidden' | 'context_id'> & {
  failed: Omit<Schema['FailedCell'], 'cell_id'> | null;
  hidden: Pick<Schema['HiddenState'], 'cell' | 'message'>[];
};
export type ReproductionAnswer = Schema['ReproductionAnswer'];

/** A stored event; `seq` increases by one. */
export type Event = Schema['Event'];
export type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

/** A stored message, or a truncated one from a saved card. */
export type Message = Schema['Message'] & { cut?: boolean };
export type MessageOf<Type extends Message['message_type']> = Extract<
  Message,
  { message_type: Type }
>;

export type Usage = Pick<Schema['Usage'], 'prompt_tokens' | 'completion_tokens' | 'total_tokens'> &
  Partial<Schema['Usage']>;
export type Question = Omit<Schema['QuestionAsked'], 'type' | 'format_version' | 'severity'> & {
  severity: string;
  job_id?: string | null;
  task_id?: string | null;
};
export type PermissionRequest = Omit<
  Required<Schema['PermissionRequested']>,
  'context_id' | 'created_at' | 'status' | 'shown' | 'agent_role'
> & {
  agent_role: string | null;
  status?: string;
  /** The full preview of the call. */
  shown?: { kind: string; text: string; complete: boolean };
};

/** Envelope of every list in the API. */
export interface Page<Item> {
  items: Item[];
  next: string | number | null;
}

export interface StatusCardData {
  kind: 'status';
  /** The notebook's conversation, whose role can be switched; null before there is one. */
  context_id?: string | null;
  /** The last event when the card was made. */
  seq?: number;
  role: string | null;
  roles?: RoleLook[];
  title: string;
  note: string | null;
  /** Chosen for this conversation. */
  model?: string | null;
  health: Health;
}

/** A saved card, possibly from an earlier version or edited by hand; `snapshot.ts` validates it. */
export type RunCardData = Omit<
  Schema['RunCardData'],
  'role' | 'roles' | 'snapshot' | 'saved_at'
> & {
  role: string;
  /** Looks of the roles involved; missing in cards of earlier versions. */
  roles?: RoleLook[];
  snapshot: RunSnapshot;
  saved_at: string | null;
  /** The cell was run again with the same text: what it would send. */
  again?: Again;
};

type Snapshot = Schema['RunSnapshot'];
export type RunSnapshot = Pick<
  Snapshot,
  | 'status'
  | 'error'
  | 'model'
  | 'goal'
  | 'messages'
  | 'plan'
  | 'revision'
  | 'made_at'
  | 'stale'
  | 'ended_at'
> &
  Partial<Pick<Snapshot, 'seq' | 'left_out' | 'plan_id' | 'asked_by' | 'decisions' | 'rights'>> & {
    effects?: DataEffect[];
    guidance?: Guidance[];
    role: string;
    jobs?: JobFacts[];
    tasks: Task[];
    questions: Record<string, unknown>[];
    permissions: Record<string, unknown>[];
    usage: Usage | null;
    started_at: string | null;
  };
export type Task = Pick<Schema['CardTask'], 'id' | 'step_id' | 'status'> &
  Partial<Omit<Schema['CardTask'], 'role'>> & { role?: string };

/**
 * Content of the widget's `card` trait and of the notebook's output. A newer kernel may send
 * unknown kinds.
 */
export type CardData = StatusCardData | RunCardData | { kind: string };

/** An earlier request: a message, or the approval of a plan. */
export interface Again {
  content?: string;
  role?: string;
  notebook?: string | null;
  plan_id?: string;
  revision?: number;
}

/** Response of `GET jobs/{id}/card`. */
export type CardAnswer = Omit<Schema['CardAnswer'], 'card'> & { card: RunCardData };

export type UserDecision = Schema['UserDecision'];

/** Response of `GET jobs/{id}/card?whole=true`. */
export type WholeCardAnswer = CardAnswer & { state: CardState };

export type CardState = Omit<
  Schema['CardState'],
  'jobs' | 'tasks' | 'questions' | 'permissions'
> & {
  jobs: JobFacts[];
  tasks: Task[];
  questions: Record<string, unknown>[] | null;
  permissions: Record<string, unknown>[] | null;
};
