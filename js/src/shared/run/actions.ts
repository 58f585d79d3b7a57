/** User actions on a run card, each a single API call. */

import type { Channel, Method } from '../channel/channel';
import type {
  Again,
  Audit,
  BroughtBack,
  Checkpoint,
  Expectation,
  FileDiff,
  NewExpectation,
  Page,
  Plan,
  PlanAnswer,
  ReproductionAnswer,
  Role,
  Rollback,
  RollbackRequest,
  Scope
} from '../types';
import type { PlanRef } from '../plan/planRef';
import { planAddress } from './load';
import { roleOf } from './state';
import type { RunStore } from './store';

export interface Silence {
  code: string;
  scope: 'cell' | 'notebook' | 'everywhere';
  cell_id: string | null;
  silenced: boolean;
}
export type AssumptionDecision = ({ message_id: string } | { plan_id: string }) & {
  index: number;
  status: 'confirmed' | 'corrected';
  correction: string;
};
export type Decision = { decision: 'allow' | 'deny'; scope: Scope; feedback?: string };

export class RunActions {
  constructor(
    private readonly channel: Channel,
    private readonly store: RunStore
  ) {}

  /** About the conversation. */
  private ask<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
    return this.channel.request(method, `context/${this.store.card.context_id}/${path}`, body);
  }

  /** Ties the jobs started here to this card, also after a reload. */
  private get card_id(): string {
    return this.store.card.job_id;
  }

  /** Where messages from this card go, for completing mentions. */
  get reach(): { channel: Channel; place: { context: string; role: string } } {
    const { card, state } = this.store;
    return { channel: this.channel, place: { context: card.context_id, role: roleOf(state) } };
  }

  get place(): PlanRef {
    const { card, state } = this.store;
    return {
      channel: this.channel,
      context: card.context_id,
      planId: state.planId ?? '',
      revision: state.revision
    };
  }

  /** Approves the plan revision on the screen. */
  execute(revision = this.store.state.revision, plan_id = this.store.state.planId): Promise<void> {
    const body = { revision, plan_id, card_id: this.card_id };
    return this.store.start(() => this.ask('POST', 'plan/execute', body));
  }

  /** `replan` asks the planner to make this plan again. */
  say(content: string, role = roleOf(this.store.state), replan = false): Promise<void> {
    const body = { content, role, card_id: this.card_id, ...(replan && { replan }) };
    return this.store.start(() => this.ask('POST', 'messages', body));
  }

  /** Sends a message, or queues it for the running job's next turn. */
  async tell(content: string): Promise<void> {
    await (this.store.state.busy === null
      ? this.say(content)
      : this.ask('POST', 'queue', { content }));
  }

  /** Puts back what the sandbox has set aside after a command. */
  bringBack(id: string): Promise<BroughtBack> {
    return this.ask('POST', `set-aside/${id}/restore`);
  }

  async cancel(jobId: string): Promise<void> {
    await this.channel.request('POST', `jobs/${jobId}/cancel`);
  }

  /** Needs a `role` if the conversation's is not the job's any more. */
  async resume(jobId: string, role?: string): Promise<void> {
    await this.channel.request('POST', `jobs/${jobId}/resume`, role && { role });
  }

  /** Likewise. */
  async decideTask(
    jobId: string,
    taskId: string,
    what: 'retry' | 'skip',
    role?: string
  ): Promise<void> {
    await this.channel.request('POST', `jobs/${jobId}/tasks/${taskId}/${what}`, role && { role });
  }

  answer(id: string, value: string): Promise<void> {
    return this.store.decide(() =>
      this.channel.request('POST', `questions/${id}/answer`, { value })
    );
  }

  decide(ids: readonly string[], decision: Decision): Promise<void> {
    return this.store.decide(() =>
      ids.length === 1
        ? this.channel.request('POST', `permissions/${ids[0]}`, decision)
        : this.channel.request('POST', 'permissions', { ids, ...decision })
    );
  }

  async expectations(): Promise<Expectation[]> {
    const page = await this.ask<Page<Expectation>>('GET', 'expectations');
    return page.items;
  }

  /** Replaces the expectation with the same id. */
  async expect(expectation: NewExpectation): Promise<void> {
    await this.ask('POST', 'expectations', expectation);
  }

  async unexpect(id: string): Promise<void> {
    await this.ask('DELETE', `expectations/${encodeURIComponent(id)}`);
  }

  /** Hides this kind of warning, or shows it again. */
  async silence(silence: Silence): Promise<void> {
    await this.ask('POST', 'silenced', silence);
  }

  /** A correction makes the planner revise the plan, on this card. */
  decideAssumption(decision: AssumptionDecision): Promise<void> {
    return this.store.start(() => this.ask('POST', 'assumptions', decision));
  }

  async savePlan(plan: Plan, revision: number): Promise<void> {
    const { planId: plan_id } = this.store.state;
    this.store.takePlan(
      await this.ask<PlanAnswer>('PUT', 'plan', {
        plan,
        revision,
        plan_id
      })
    );
  }

  /** Roles that can be assigned to a step: coordinators cannot. */
  async stepRoles(): Promise<Role[]> {
    const { items } = await this.channel.request<Page<Role>>('GET', 'roles');
    return items.filter(({ delegates_to }) => delegates_to.length === 0);
  }

  newestPlan(): Promise<PlanAnswer> {
    return this.channel.request<PlanAnswer>(
      'GET',
      planAddress(this.store.card.context_id, this.store.state.planId)
    );
  }

  async switchRole(role: string, confirm: boolean): Promise<void> {
    await this.ask('POST', 'role', confirm ? { role, confirm } : { role });
    this.store.chooseRole(role);
  }

  async audit(): Promise<Audit> {
    return this.store.answer?.state.audit ?? this.ask<Audit>('GET', `audit?job_id=${this.card_id}`);
  }

  /**
   * Checkpoints of the card's own jobs, oldest first: rolling back to the first undoes everything
   * the card did.
   */
  async checkpoints(): Promise<Checkpoint[]> {
    const { items } = await this.ask<Page<Checkpoint>>('GET', 'checkpoints');
    const { follows } = this.store.state;
    const ours = items.filter(({ job_id }) => job_id && follows.includes(job_id));
    return ours.sort((one, other) => one.created_at.localeCompare(other.created_at));
  }

  async changes(checkpointId: string): Promise<FileDiff[]> {
    return (
      await this.channel.request<Page<FileDiff>>(
        'GET',
        `checkpoints/${checkpointId}/diff?scope=card`
      )
    ).items;
  }

  /** Keeps what other cards have done since. */
  rollback(checkpointId: string, body: RollbackRequest): Promise<Rollback> {
    return this.channel.request<Rollback>('POST', `checkpoints/${checkpointId}/rollback`, {
      scope: 'card',
      ...body
    });
  }

  /** Progress of the notebook check, and which notebook can be checked. */
  async reproduction(): Promise<ReproductionAnswer> {
    return (
      this.store.answer?.state.reproduction ?? this.ask<ReproductionAnswer>('GET', 'reproduce')
    );
  }

  /**
   * Runs all cells from top to bottom in a second kernel. The changes belong to this card and can
   * be rolled back with it.
   */
  async runNotebook(): Promise<void> {
    await this.ask('POST', 'reproduce', {
      job_id: this.store.state.root
    });
  }

  wholeRecord(): Promise<void> {
    return this.store.loadWhole();
  }

  /** Repeats the request in the same conversation. */
  again({ content, role, plan_id, revision }: Again): Promise<void> {
    return revision === undefined ? this.say(content ?? '', role) : this.execute(revision, plan_id);
  }

  /** Repeats the request in a new conversation. */
  async startOver({
    content,
    role,
    notebook
  }: Again): Promise<{ context_id: string; job_id: string }> {
    const context = await this.channel.request<{ id: string }>('POST', 'context', {
      ...(notebook ? { notebook } : {}),
      ...(role ? { role } : {})
    });
    const body = { content, ...(role ? { role } : {}) };
    const { job_id } = await this.channel.request<{ job_id: string }>(
      'POST',
      `context/${context.id}/messages`,
      body
    );
    return { context_id: context.id, job_id };
  }
}
