/** Runs as a server tells them, and a channel that plays the server. */

import { act } from 'preact/test-utils';

import {
  CoworkError,
  type Channel,
  type EventListener,
  type Method
} from '../src/shared/channel/channel';
import { onlyJob } from '../src/shared/run/snapshot';
import type {
  Audit,
  CardAnswer,
  CardState,
  Event,
  Job,
  JobFacts,
  Message,
  Page,
  PermissionRequest,
  Plan,
  PlanAnswer,
  PlanStep,
  Question,
  ReproductionAnswer,
  RunCardData,
  RunSnapshot
} from '../src/shared/types';

export const AT = '2026-11-14T14:02:00Z';

export function later(seconds: number): string {
  return new Date(Date.parse(AT) + seconds * 1000).toISOString();
}

export function step(number: number, changes: Partial<PlanStep> = {}): PlanStep {
  return {
    id: String(number),
    step_number: number,
    action: `Do thing ${number}`,
    reason: `Because of ${number}`,
    tools_needed: ['run_cell'],
    files: [`file${number}.py`],
    depends_on: number > 1 ? [String(number - 1)] : [],
    estimated_time: '3 s',
    status: 'pending',
    expects: [],
    role: null,
    agent: '',
    rounds: 0,
    ...changes
  };
}

export function plan(count: number, changes: Partial<Plan> = {}): Plan {
  return {
    type: 'plan',
    id: 'p1',
    format_version: '1.0',
    goal: 'Chart revenue',
    steps: Array.from({ length: count }, (_, at) => step(at + 1)),
    estimated_total_time: '9 s',
    risks: ['Rows may go'],
    prerequisites: ['pyarrow'],
    assumptions: [],
    ...changes
  };
}

let lastId = 0;

/** A message as a saved card holds it, and as the server sends it. */
type Saved = RunSnapshot['messages'][number] & Pick<Message, 'content'>;

export function message(
  message_type: Saved['message_type'],
  text: string,
  changes: Partial<Saved> = {}
): Saved {
  const who = {
    id: `m${++lastId}`,
    job_id: 'j1',
    task_id: null,
    role: 'assistant',
    agent_role: 'planner'
  } as const;
  return {
    ...who,
    message_type,
    text,
    content: [{ type: 'text', text }],
    data: {},
    created_at: AT,
    ...changes
  };
}

export const PLAN_MADE = message('plan', '');

export function snapshot(changes: Partial<RunSnapshot> = {}): RunSnapshot {
  return {
    status: 'completed',
    error: null,
    role: 'planner',
    model: 'gpt-5-mini',
    goal: 'Show revenue',
    messages: [],
    plan: null,
    revision: 0,
    made_at: null,
    stale: [],
    tasks: [],
    questions: [],
    permissions: [],
    usage: { prompt_tokens: 1000, completion_tokens: 1100, total_tokens: 2100 },
    started_at: AT,
    ended_at: later(9),
    seq: 10,
    ...changes
  };
}

export function runCard(
  changes: Partial<RunSnapshot> = {},
  more: Partial<RunCardData> = {}
): RunCardData {
  return {
    version: 1,
    kind: 'run',
    host: 'server',
    context_id: 'c1',
    job_id: 'j1',
    role: 'planner',
    title: 'Show revenue',
    saved_at: later(60),
    ...more,
    snapshot: snapshot(changes)
  };
}

export function job(id: string, changes: Partial<JobFacts> = {}): JobFacts {
  return {
    ...{ id, kind: 'message', role: 'planner', plan_id: null, plan_revision: null, card_id: 'j1' },
    ...{ status: 'completed', error: null, created_at: AT, completed_at: later(9) },
    ...changes
  };
}

/** A card on which a plan was made; it waits for its approval. */
export function planned(changes: Partial<RunSnapshot> = {}): RunCardData {
  const { revision = 1 } = changes;
  const made = job('j1', { plan_id: 'p1', plan_revision: revision });
  return runCard({
    plan: plan(3),
    plan_id: 'p1',
    revision,
    made_at: AT,
    messages: [PLAN_MADE],
    jobs: [made],
    ...changes
  });
}

/** The same once the plan is being executed, or was, by the job `j2`. */
export function executed(changes: Partial<RunSnapshot> = {}): RunCardData {
  const { status = 'completed', error = null, ended_at = later(9) } = changes;
  const made = job('j1', { plan_id: 'p1', plan_revision: 1 });
  const execution = job('j2', {
    kind: 'plan',
    role: 'actor',
    plan_id: 'p1',
    plan_revision: 1,
    status,
    error,
    completed_at: ended_at
  });
  return planned({ role: 'actor', jobs: [made, execution], ...changes });
}

export function event(
  seq: number,
  type: Event['type'],
  data: object = {},
  changes: Partial<Event> = {}
): Event {
  return {
    seq,
    type,
    context_id: 'c1',
    job_id: 'j1',
    task_id: null,
    created_at: later(seq),
    data,
    ...changes
  } as Event;
}

export const QUESTION: Question = {
  id: 'q1',
  job_id: 'j1',
  task_id: null,
  question: 'What about rows without region?',
  context: '12 of them',
  severity: 'minor',
  options: [
    { label: 'Show as unknown', value: 'unknown', description: 'Totals stay right' },
    { label: 'Leave out', value: 'out', description: '' }
  ],
  default: 'unknown',
  allow_custom: true,
  unused: []
};

export const PERMISSION: PermissionRequest = {
  id: 'p1',
  job_id: 'j1',
  task_id: null,
  agent_role: 'actor',
  tool: 'execute_command',
  parameters: { command: 'pip install pyarrow' },
  resource: 'pip install pyarrow',
  risk: 'medium',
  why: ['It is not in the plan.'],
  scopes: ['once', 'session'],
  rules: ['execute_command(pip install)'],
  shown: { kind: 'command', text: 'pip install pyarrow', complete: true },
  uncovered: [],
  status: 'pending'
};

/** Plays the server: it answers from a table and keeps what it was asked. */
export class FakeServer implements Channel {
  readonly asked: { method: Method; path: string; body: unknown }[] = [];
  readonly answers = new Map<string, unknown>();
  listener: EventListener | null = null;
  after = -1;
  /** The newest event that the state of the card includes; null: the card's own. */
  seq: number | null = null;
  subscriptions = 0;
  /** What the server says of a card that stands in a copy. */
  copiedFrom: string | null = null;
  summaries: CardState['summaries'] = [];
  /** The conversation's; by default that of the card. */
  currentRole: string | null = null;
  /** What code did to data; null: what the card says of it. */
  effects: CardState['effects'] | null = null;

  constructor(public card: RunCardData | null = null) {}

  async request<Answer>(method: Method, path: string, body: unknown = null): Promise<Answer> {
    this.asked.push({ method, path, body });
    const answer = this.answers.get(`${method} ${path}`) ?? this.whole(path) ?? this.ofTheRun(path);
    await Promise.resolve();
    if (answer instanceof Error) {
      throw answer;
    }
    if (answer === undefined) {
      throw new CoworkError({ code: 'not_found', message: `Nothing at ${path}.`, status: 404 });
    }
    return answer as Answer;
  }

  subscribe(_contextId: string, after: number, listener: EventListener): () => void {
    this.after = after;
    this.listener = listener;
    this.subscriptions += 1;
    listener.state('live');
    return () => {
      if (this.listener === listener) {
        this.listener = null;
      }
    };
  }

  /** What was asked that could change something. */
  get changes(): { method: Method; path: string; body: unknown }[] {
    return this.asked.filter(({ method }) => method !== 'GET');
  }

  async send(...events: Event[]): Promise<void> {
    await act(async () => {
      events.forEach(one => this.listener?.event(one));
      await settled();
    });
  }

  /** The card with all that stands in the table beside it. */
  private whole(path: string): unknown {
    const card = /^(jobs\/[^/]*\/card)\?whole=true/.exec(path)?.[1];
    const answer = card && (this.answers.get(`GET ${card}`) ?? this.ofTheRun(card));
    if (!answer || answer instanceof Error) {
      return answer;
    }
    const own = (answer as CardAnswer).card;
    const get = <Found>(what: string): Found | null => {
      const found =
        this.answers.get(`GET context/${own.context_id}/${what}`) ??
        this.ofTheRun(`context/${own.context_id}/${what}`);
      return found === undefined || found instanceof Error ? null : (found as Found);
    };
    const state: CardState = {
      seq: this.seq ?? own.snapshot.seq ?? 0,
      role: this.currentRole ?? onlyJob(own).role ?? 'actor',
      busy:
        get<Page<Job>>('jobs')?.items.find(
          ({ status }) => status === 'running' || status === 'waiting'
        )?.id ?? null,
      messages: get<Page<Message>>('messages?after=0&limit=1000')?.items ?? null,
      jobs: own.snapshot.jobs ?? [onlyJob(own)],
      tasks: own.snapshot.tasks ?? [],
      plan: get<PlanAnswer>(
        `plan${own.snapshot.plan_id ? `?plan_id=${own.snapshot.plan_id}` : ''}`
      ),
      copied_from: this.copiedFrom,
      checkpoints: 0,
      decisions: [],
      effects: this.effects ?? own.snapshot.effects ?? [],
      guidance: own.snapshot.guidance ?? [],
      summaries: this.summaries,
      questions: get<Page<Record<string, unknown>>>('questions')?.items ?? null,
      permissions: get<Page<Record<string, unknown>>>('permissions')?.items ?? null,
      reproduction: get<ReproductionAnswer>('reproduce'),
      audit: get<Audit>(`audit?job_id=${own.job_id}`)
    };
    return { ...answer, state };
  }

  private ofTheRun(path: string): unknown {
    if (this.card === null) {
      return undefined;
    }
    const { snapshot: shot, context_id, job_id } = this.card;
    const list = (items: unknown[]): unknown => ({ items, next: null });
    const table: Record<string, unknown> = {
      [`jobs/${job_id}/card`]: { card: this.card, markdown: '' },
      [`context/${context_id}/jobs`]: list([]),
      [`context/${context_id}/plan${shot.plan_id ? `?plan_id=${shot.plan_id}` : ''}`]: {
        ...{ plan: shot.plan, revision: shot.revision, made_at: shot.made_at, stale: shot.stale },
        rights: shot.rights ?? ''
      },
      [`context/${context_id}/permissions`]: list(shot.permissions),
      [`context/${context_id}/questions`]: list(shot.questions),
      [`context/${context_id}/messages?after=0&limit=1000`]: list(shot.messages)
    };
    return table[path];
  }
}

/**
 * Until everything that was set going has been drawn: promises, a frame, and what follows from it.
 */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise<void>(resolve => requestAnimationFrame(() => resolve()));
    await new Promise(resolve => setTimeout(resolve, 0));
  }
}
