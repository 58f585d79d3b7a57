/** What a user can do on a run card, each as one call of the API. */

import type { Channel } from '../channel/channel';
import type {
  Again,
  Audit,
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
import type { PlanPlace } from '../plan/place';
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

  private get context(): string {
    return `context/${this.store.card.context_id}`;
  }

  /** What is started here belongs to this card, also when it is read again. */
  private get card_id(): string {
    return this.store.card.job_id;
  }

  /** Where what is said here can point. */
  get reach(): { channel: Channel; place: { context: string; role: string } } {
    const { card, state } = this.store;
    return { channel: this.channel, place: { context: card.context_id, role: roleOf(state) } };
  }

  /** The plan that the card is about. */
  get place(): PlanPlace {
    const { card, state } = this.store;
    return {
      channel: this.channel,
      context: card.context_id,
      planId: state.planId ?? '',
      revision: state.revision
    };
  }

  /** The user's approval of the plan as it is on the screen. */
  execute(revision = this.store.state.revision, plan_id = this.store.state.planId): Promise<void> {
    const body = { revision, plan_id, card_id: this.card_id };
    return this.store.start(() =>
      this.channel.request('POST', `${this.context}/plan/execute`, body)
    );
  }

  /** To whom the card says it goes. `replan` asks the planner to make this very plan anew. */
  say(content: string, role = roleOf(this.store.state), replan = false): Promise<void> {
    const body = { content, role, card_id: this.card_id, ...(replan && { replan }) };
    return this.store.start(() => this.channel.request('POST', `${this.context}/messages`, body));
  }

  /** The same, or while a job runs, for its next turn. */
  async tell(content: string): Promise<void> {
    await (this.store.state.busy === null
      ? this.say(content)
      : this.channel.request('POST', `${this.context}/queue`, { content }));
  }

  async cancel(jobId: string): Promise<void> {
    await this.channel.request('POST', `jobs/${jobId}/cancel`);
  }

  async resume(jobId: string): Promise<void> {
    await this.channel.request('POST', `jobs/${jobId}/resume`);
  }

  async decideTask(jobId: string, taskId: string, what: 'retry' | 'skip'): Promise<void> {
    await this.channel.request('POST', `jobs/${jobId}/tasks/${taskId}/${what}`);
  }

  async answer(questionId: string, value: string): Promise<void> {
    await this.channel.request('POST', `questions/${questionId}/answer`, { value });
  }

  async decide(ids: readonly string[], decision: Decision): Promise<void> {
    await (ids.length === 1
      ? this.channel.request('POST', `permissions/${ids[0]}`, decision)
      : this.channel.request('POST', 'permissions', { ids, ...decision }));
  }

  /** What must stay true of tables in this conversation. */
  async expectations(): Promise<Expectation[]> {
    const page = await this.channel.request<Page<Expectation>>(
      'GET',
      `${this.context}/expectations`
    );
    return page.items;
  }

  /** One that has the id of another takes its place. */
  async expect(expectation: NewExpectation): Promise<void> {
    await this.channel.request('POST', `${this.context}/expectations`, expectation);
  }

  async unexpect(id: string): Promise<void> {
    await this.channel.request('DELETE', `${this.context}/expectations/${encodeURIComponent(id)}`);
  }

  /** From now on this kind of warning is not shown there, or is shown again. */
  async silence(silence: Silence): Promise<void> {
    await this.channel.request('POST', `${this.context}/silenced`, silence);
  }

  /** A correction starts the planner anew, on this card. */
  decideAssumption(decision: AssumptionDecision): Promise<void> {
    return this.store.start(() =>
      this.channel.request('POST', `${this.context}/assumptions`, decision)
    );
  }

  async savePlan(plan: Plan, revision: number): Promise<void> {
    const { planId: plan_id } = this.store.state;
    this.store.takePlan(
      await this.channel.request<PlanAnswer>('PUT', `${this.context}/plan`, {
        plan,
        revision,
        plan_id
      })
    );
  }

  /** Those that can be given a step: who leads carries out none. */
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
    await this.channel.request(
      'POST',
      `${this.context}/role`,
      confirm ? { role, confirm } : { role }
    );
    this.store.chooseRole(role);
  }

  async audit(): Promise<Audit> {
    return (
      this.store.answer?.state.audit ??
      this.channel.request<Audit>('GET', `${this.context}/audit?job_id=${this.card_id}`)
    );
  }

  /**
   * Those of the card's own jobs, oldest first: the first one takes back everything the card has
   * done.
   */
  async checkpoints(): Promise<Checkpoint[]> {
    const { items } = await this.channel.request<Page<Checkpoint>>(
      'GET',
      `${this.context}/checkpoints`
    );
    const { follows } = this.store.state;
    const ours = items.filter(({ job_id }) => job_id && follows.includes(job_id));
    return ours.sort((one, other) => one.created_at.localeCompare(other.created_at));
  }

  /** All that the checkpoint's job has changed. */
  async changes(checkpointId: string): Promise<FileDiff[]> {
    return (
      await this.channel.request<Page<FileDiff>>(
        'GET',
        `checkpoints/${checkpointId}/diff?scope=card`
      )
    ).items;
  }

  /** What other cards have done since stays. */
  rollback(checkpointId: string, body: RollbackRequest): Promise<Rollback> {
    return this.channel.request<Rollback>('POST', `checkpoints/${checkpointId}/rollback`, {
      scope: 'card',
      ...body
    });
  }

  /** How far the notebook is that is being run anew, and which one can be. */
  async reproduction(): Promise<ReproductionAnswer> {
    return (
      this.store.answer?.state.reproduction ??
      this.channel.request<ReproductionAnswer>('GET', `${this.context}/reproduce`)
    );
  }

  /**
   * All cells from top to bottom, in a second kernel. What they change belongs to this card, and
   * can be taken back with it.
   */
  async runAnew(): Promise<void> {
    await this.channel.request('POST', `${this.context}/reproduce`, {
      job_id: this.store.state.root
    });
  }

  wholeRecord(): Promise<void> {
    return this.store.loadWhole();
  }

  /** The same request once more, in the same conversation. */
  again({ content, role, plan_id, revision }: Again): Promise<void> {
    return revision === undefined ? this.say(content ?? '', role) : this.execute(revision, plan_id);
  }

  /** The same request in a new conversation, which knows nothing of the old one. */
  async anew({ content, role, notebook }: Again): Promise<{ context_id: string; job_id: string }> {
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
