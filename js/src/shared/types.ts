/**
 * The names under which the code knows what the server sends. The shapes are the server's own, see
 * `schema.ts`.
 */

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
/** What a job is, as it says itself. */
/** Cards of earlier versions do not say who started a job. */
export type JobFacts = Omit<Schema['CardJob'], 'role' | 'by'> &
  Partial<Pick<Schema['CardJob'], 'by'>> & { role: string };
/** As read: the server leaves out who does a step, and how often, where nothing is said of it. */
export type PlanStep = Required<Schema['PlanStep']>;
/** Of a large plan a saved card has only the first steps. */
export type Plan = Omit<Schema['Plan'], 'steps'> & { steps: PlanStep[]; steps_left_out?: number };
export type PlanAnswer = Schema['PlanAnswer'];
export type Revision = Schema['RevisionSummary'];
export type Comparison = Schema['ComparisonAnswer'];
export type FieldChange = Schema['FieldChange'];
export type OfferedParameter = Schema['OfferedParameter'];
export type TemplateParameter = Schema['TemplateParameter'];
export type Workflow = Schema['WorkflowView'];
/** What a saved card kept of it may say less than the server does. */
export type Review = Pick<Schema['ReviewData'], 'summary' | 'findings'> & { verdict: string };
export type Finding = Schema['Finding'];
export type Scope = Schema['PermissionDecision']['scope'] & string;
export type Audit = Schema['Audit'];
export type Checkpoint = Schema['CheckpointView'];
export type Checkpoints = Schema['CheckpointList'];
/** What is not needed to draw it may be missing. */
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
/** One that the server has not named yet. */
export type NewExpectation = Pick<Expectation, 'of' | 'check'> & Partial<Expectation>;
export type StaleCell = Schema['StaleCellView'];
export type Figure = Schema['Figure'];
export type Assumption = Schema['Assumption'];
export type Skill = Schema['SkillView'];
export type SkillList = Schema['SkillList'];
export type Mention = Schema['Mention'];
export type MemoryView = Schema['MemoryView'];
export type MemoryProposal = Schema['MemoryProposal'];
/** What can stand behind `@` or `/`. */
export type CompletionItem = Schema['CompletionItem'];
export type CompletionItems = Schema['CompletionItems'];
export type Reproduction = Omit<Schema['Reproduction'], 'failed' | 'hidden' | 'context_id'> & {
  failed: Omit<Schema['FailedCell'], 'cell_id'> | null;
  hidden: Pick<Schema['HiddenState'], 'cell' | 'message'>[];
};
export type ReproductionAnswer = Schema['ReproductionAnswer'];

/** One stored event of a context; `seq` grows by one. Its type says what its data is. */
export type Event = Schema['Event'];
export type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

/**
 * A message as it is stored, or as a saved card holds it, with less of its text. Its type says what
 * its data is.
 */
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
/** Something the agent may do only if the user says so. */
export type PermissionRequest = Omit<
  Required<Schema['PermissionView']>,
  'context_id' | 'created_at' | 'status' | 'shown' | 'agent_role'
> & {
  agent_role: string | null;
  status?: string;
  /** The whole of what would be done, ready to show. */
  shown?: { kind: string; text: string; complete: boolean };
};

/** Every list of the API comes in this envelope. */
export interface Page<Item> {
  items: Item[];
  next: string | number | null;
}

/** The first card: who would answer, and whether anything is missing. */
export interface StatusCardData {
  kind: 'status';
  /** The notebook's conversation, whose role can be switched; none before there is one. */
  context_id?: string | null;
  role: string | null;
  roles?: RoleLook[];
  title: string;
  note: string | null;
  health: Health;
}

/**
 * A saved card: what an earlier version did not say, or what somebody wrote into the file, is for
 * `snapshot.ts` to judge.
 */
export type RunCardData = Omit<
  Schema['RunCardData'],
  'role' | 'roles' | 'snapshot' | 'saved_at'
> & {
  role: string;
  /** How those who took part look; cards of earlier versions do not say. */
  roles?: RoleLook[];
  snapshot: RunSnapshot;
  saved_at: string | null;
  /** The cell was run again with the same text: what it would send, should the user want that. */
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
 * What the widget's `card` trait and the notebook's output hold. A newer kernel may send kinds that
 * this bundle does not know.
 */
export type CardData = StatusCardData | RunCardData | { kind: string };

/** A request that was made before: words, or the approval of a plan. */
export interface Again {
  content?: string;
  role?: string;
  notebook?: string | null;
  plan_id?: string;
  revision?: number;
}

/** The answer to `GET jobs/{id}/card`. */
export type CardAnswer = Omit<Schema['CardAnswer'], 'card'> & { card: RunCardData };

/** What the user has allowed or denied on a card. */
export type UserDecision = Schema['UserDecision'];

/** The answer to `GET jobs/{id}/card?whole=true`. */
export type WholeCardAnswer = CardAnswer & { state: CardState };

/** How everything stands that a run card shows. */
export type CardState = Omit<
  Schema['CardState'],
  'jobs' | 'tasks' | 'questions' | 'permissions'
> & {
  jobs: JobFacts[];
  tasks: Task[];
  questions: Record<string, unknown>[] | null;
  permissions: Record<string, unknown>[] | null;
};
