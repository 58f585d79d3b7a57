/** What a user can do on a run card, each as one call of the API. */

import type { Channel } from '../channel';
import type { Audit, Checkpoint, FileDiff, Message, Page, Plan, PlanAnswer, Rollback, Scope } from '../protocol';
import { withMessage } from './messages';
import type { RunStore } from './store';

export type Decision = { decision: 'allow' | 'deny'; scope: Scope; feedback?: string };

export class RunActions {
  constructor(
    private readonly channel: Channel,
    private readonly store: RunStore
  ) {}

  private get context(): string {
    return `context/${this.store.card.context_id}`;
  }

  /** The user's approval of the plan as it is on the screen. */
  execute(revision: number): Promise<void> {
    return this.store.start(() => this.channel.request('POST', `${this.context}/plan/execute`, { revision }));
  }

  say(content: string, role?: string): Promise<void> {
    const body = role ? { content, role } : { content };
    return this.store.start(() => this.channel.request('POST', `${this.context}/messages`, body));
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

  async savePlan(plan: Plan, revision: number): Promise<void> {
    this.store.takePlan(await this.channel.request<PlanAnswer>('PUT', `${this.context}/plan`, { plan, revision }));
  }

  newestPlan(): Promise<PlanAnswer> {
    return this.channel.request<PlanAnswer>('GET', `${this.context}/plan`);
  }

  async switchRole(role: string, confirm: boolean): Promise<void> {
    await this.channel.request('POST', `${this.context}/role`, confirm ? { role, confirm } : { role });
  }

  audit(): Promise<Audit> {
    return this.channel.request<Audit>('GET', `${this.context}/audit`);
  }

  async checkpoints(): Promise<Checkpoint[]> {
    return (await this.channel.request<Page<Checkpoint>>('GET', `${this.context}/checkpoints`)).items;
  }

  async changes(checkpointId: string): Promise<FileDiff[]> {
    return (await this.channel.request<Page<FileDiff>>('GET', `checkpoints/${checkpointId}/diff`)).items;
  }

  rollback(checkpointId: string, dryRun: boolean): Promise<Rollback> {
    return this.channel.request<Rollback>('POST', `checkpoints/${checkpointId}/rollback`, { dry_run: dryRun });
  }

  /** Everything that was said in the card's jobs, whole, in place of what the saved card could hold. */
  async wholeRecord(): Promise<void> {
    const { state } = this.store;
    const messages = (await this.allMessages()).filter(({ job_id }) => job_id && state.follows.includes(job_id));
    const whole = messages.reduce(withMessage, { ...state, entries: [], leftOut: 0 });
    const before = new Map(state.entries.map(entry => [entry.id, entry]));
    const known = new Set(whole.entries.map(({ id }) => id));
    const entries = whole.entries.map(entry => {
      const old = before.get(entry.id);
      return entry.kind === 'question' && old?.kind === 'question' ? { ...entry, answer: old.answer } : entry;
    });
    // Notices and decisions are no messages; they stay where they were, at the end.
    const others = state.entries.filter(({ id, kind }) => !known.has(id) && (kind === 'notice' || kind === 'decision'));
    this.store.change({ ...this.store.state, entries: [...entries, ...others], leftOut: whole.leftOut });
  }

  private async allMessages(): Promise<Message[]> {
    const messages: Message[] = [];
    let after: string | number | null = 0;
    while (after !== null) {
      const page: Page<Message> = await this.channel.request('GET', `${this.context}/messages?after=${after}&limit=1000`);
      messages.push(...page.items);
      after = page.next;
    }
    return messages;
  }
}
