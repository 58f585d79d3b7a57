/** Keeps one run card up to date: asks how the run stands, then listens, and draws at most once a frame. */

import { CoworkError, pauseBefore, type Channel } from '../channel';
import type { CardAnswer, Event, Job, Page, PlanAnswer, RunCardData } from '../protocol';
import { planOf } from './reading';
import { follow, hasGap, reduce } from './reduce';
import { fromCard, withJob } from './snapshot';
import type { RunState } from './state';

/**
 * `opening`: shows what was saved, and asks how it stands. `live`: shows what is. `reconnecting`: shows what was, and
 * tries again. `record`: nobody here knows the run, what was saved is all there is.
 */
export type Link = 'opening' | 'live' | 'reconnecting' | 'record';

/** In a hidden tab frames do not come, yet events do. */
const LONGEST_FRAME_MS = 250;

export class RunStore {
  state: RunState;
  link: Link = 'opening';
  /** Buttons act on what the server said, never on what a notebook says: a notebook can be forged. */
  trusted = false;
  private readonly listeners = new Set<() => void>();
  private queue: Event[] = [];
  private frame: { cancel(): void } | null = null;
  private holding = 0;
  private unsubscribe: (() => void) | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private attempts = 0;
  private closed = false;
  private saved: RunCardData;

  constructor(
    private readonly channel: Channel,
    readonly card: RunCardData
  ) {
    this.saved = card;
    this.state = fromCard(card);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async open(): Promise<void> {
    try {
      const state = await this.load();
      if (!this.closed) {
        this.state = state;
        this.trusted = true;
        this.attempts = 0;
        this.listen();
      }
    } catch (error) {
      if (!this.closed) {
        this.failedToOpen(error);
      }
    }
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.frame?.cancel();
    this.unsubscribe?.();
    this.unsubscribe = null;
  }

  /** Starts something that gives a job, and follows that job from its very first event. */
  async start(asking: () => Promise<{ job_id: string }>): Promise<void> {
    this.holding += 1;
    try {
      const { job_id } = await asking();
      this.state = follow(this.state, job_id);
    } finally {
      this.holding -= 1;
      this.schedule();
    }
  }

  /** Whether files have changed since the plan was made is told only to those who ask. */
  async lookAtPlan(): Promise<void> {
    if (!this.trusted || this.state.plan === null || this.state.busy !== null) {
      return;
    }
    const answer = await this.channel.request<PlanAnswer>('GET', `context/${this.card.context_id}/plan`);
    this.takePlan(answer);
  }

  /** A newer card in the notebook; what the server says goes before it. */
  takeSaved(card: RunCardData): void {
    if (!this.trusted && card !== this.saved) {
      this.saved = card;
      this.change(fromCard(card));
    }
  }

  takePlan(answer: PlanAnswer): void {
    if (answer.plan !== null && answer.revision >= this.state.revision) {
      const plan = planOf(answer.plan as unknown as Record<string, unknown>);
      this.change({ ...this.state, plan, revision: answer.revision, madeAt: answer.made_at, stale: answer.stale });
    }
  }

  change(state: RunState): void {
    this.state = state;
    this.listeners.forEach(listener => listener());
  }

  private async load(): Promise<RunState> {
    const { context_id, job_id } = this.card;
    const { card } = await this.channel.request<CardAnswer>('GET', `jobs/${job_id}/card`);
    const first = fromCard({ ...card, ...(this.card.jobs ? { jobs: this.card.jobs } : {}) });
    const jobs = (await this.channel.request<Page<Job>>('GET', `context/${context_id}/jobs`)).items;
    const busy = jobs.find(({ status }) => status === 'running' || status === 'waiting')?.id ?? null;
    return this.loadOthers({ ...first, busy }, jobs);
  }

  private async loadOthers(first: RunState, jobs: readonly Job[]): Promise<RunState> {
    const steps = new Set(first.plan?.steps.map(({ id }) => id));
    const madeThePlan = first.entries.some(entry => entry.kind === 'plan');
    const carriesItOut = (job: Job): boolean => madeThePlan && job.tasks.some(task => steps.has(task.step_id));
    let state = first;
    for (const job of jobs) {
      if (job.id !== this.card.job_id && (first.follows.includes(job.id) || carriesItOut(job))) {
        const answer = await this.channel.request<CardAnswer>('GET', `jobs/${job.id}/card`);
        state = withJob(state, job, answer.card);
      }
    }
    return state;
  }

  private failedToOpen(error: unknown): void {
    // Neither a server without us nor one that has lost the run will know it later.
    if (error instanceof CoworkError && error.status === 404) {
      this.setLink('record');
      return;
    }
    this.setLink('reconnecting');
    this.timer = setTimeout(() => void this.open(), pauseBefore(this.attempts++));
  }

  private listen(): void {
    this.unsubscribe?.();
    this.queue = [];
    this.unsubscribe = this.channel.subscribe(this.card.context_id, this.state.seq, {
      event: event => {
        this.queue.push(event);
        this.schedule();
      },
      state: liveness => {
        if (liveness === 'gone') {
          this.trusted = false;
        }
        this.setLink(liveness === 'gone' ? 'record' : liveness);
      }
    });
    this.setLink('live');
  }

  private setLink(link: Link): void {
    this.link = link;
    this.change(this.state);
  }

  private schedule(): void {
    if (this.frame === null && this.holding === 0 && this.queue.length > 0) {
      this.frame = nextFrame(() => {
        this.frame = null;
        if (this.holding === 0) {
          this.takeQueue();
        }
      });
    }
  }

  private takeQueue(): void {
    const events = this.queue;
    this.queue = [];
    let state = this.state;
    for (const event of events) {
      if (hasGap(state, event)) {
        // Channels promise that nothing is missing. Should one break that, ask again from the last good place.
        this.change(state);
        this.listen();
        return;
      }
      state = reduce(state, event);
    }
    this.change(state);
  }
}

function nextFrame(callback: () => void): { cancel(): void } {
  const cancel = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  const once = (): void => {
    cancel();
    callback();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, LONGEST_FRAME_MS);
  return { cancel };
}
