/**
 * Keeps a run card up to date: loads the run, follows its events, renders at most once per frame.
 */

import { CoworkError, type Channel } from '../channel/channel';
import { allPages } from '../channel/pages';
import { Retry } from '../channel/retry';
import type { Event, Message, PlanAnswer, RunCardData, WholeCardAnswer } from '../types';
import { fromWhole, isPlanOf, loadRun, planAddress, withPlan, withWholeRecord } from './load';
import { reduce } from './reduce';
import { fromCard } from './snapshot';
import type { RunState } from './state';

/**
 * `opening`: shows the saved card while loading. `reconnecting`: shows the last known state.
 * `record`: the run is unknown here or belongs to the notebook this one was copied from, so the
 * saved card is all there is.
 */
export type Link = 'opening' | 'live' | 'reconnecting' | 'record';

/** Hidden tabs get no animation frames, but events still arrive. */
const MAX_FRAME_MS = 250;

export class RunStore {
  state: RunState;
  link: Link = 'opening';
  /** Buttons act only on server data: a notebook can be forged. */
  trusted = false;
  /** Whether the user has started something from this card. */
  continued = false;
  /** The original notebook, if this one is a copy. */
  copiedFrom: string | null = null;
  /** The first answer; null once an event may have outdated it. */
  answer: WholeCardAnswer | null = null;
  private readonly listeners = new Set<() => void>();
  private queue: Event[] = [];
  private frame: { cancel(): void } | null = null;
  private unsubscribe: (() => void) | null = null;
  private readonly retry = new Retry();
  private closed = false;
  private saved: RunCardData;

  constructor(
    private readonly channel: Channel,
    readonly card: RunCardData,
    private readonly notebook?: () => string
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
      const answer = await loadRun(this.channel, this.card.job_id, this.notebook?.());
      if (!this.closed && answer.state.copied_from) {
        this.copiedFrom = answer.state.copied_from;
        // The current state, not the one when the notebook was copied, perhaps mid-run.
        this.state = fromWhole(answer);
        this.setLink('record');
      } else if (!this.closed) {
        this.answer = answer;
        this.state = fromWhole(answer);
        this.trusted = true;
        this.retry.succeeded();
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
    this.retry.cancel();
    this.frame?.cancel();
    this.unsubscribe?.();
    this.unsubscribe = null;
  }

  /** Starts a job on this card; its first event ties it to the card. */
  async start(asking: () => Promise<unknown>): Promise<void> {
    await asking();
    this.continued = true;
  }

  /** Remembers that somebody else was quicker: the card of the request is gone by then. */
  async decide(asking: () => Promise<unknown>): Promise<void> {
    let late = false;
    try {
      await asking();
    } catch (error) {
      late = (error as CoworkError).code === 'not_waiting';
      throw error;
    } finally {
      this.change({ ...this.state, late });
    }
  }

  /** Replaces truncated messages of the card's jobs with the full ones. */
  async loadWhole(): Promise<void> {
    const messages = await allPages<Message>(
      this.channel,
      `context/${this.card.context_id}/messages?`
    );
    if (!this.closed) {
      this.change(withWholeRecord(this.state, messages));
    }
  }

  /** Staleness of the plan's files is only computed on request. */
  async refreshPlan(): Promise<void> {
    if (!this.trusted || this.state.plan === null || this.state.busy !== null) {
      return;
    }
    const answer = await this.channel.request<PlanAnswer>(
      'GET',
      planAddress(this.card.context_id, this.state.planId)
    );
    if (isPlanOf(this.state, answer)) {
      this.takePlan(answer);
    }
  }

  /** A newer card in the notebook; server data takes precedence. */
  takeSaved(card: RunCardData): void {
    if (!this.trusted && card !== this.saved) {
      this.saved = card;
      this.change(fromCard(card));
    }
  }

  chooseRole(role: string): void {
    this.change({ ...this.state, currentRole: role, chosenRole: role });
  }

  takePlan(answer: PlanAnswer): void {
    if (answer.plan?.id === this.state.planId && answer.revision >= this.state.revision) {
      this.change(withPlan(this.state, answer));
    }
  }

  change(state: RunState): void {
    this.state = state;
    this.listeners.forEach(listener => listener());
  }

  private failedToOpen(error: unknown): void {
    // A server without Cowork, or one that lost the run, will not know it later either.
    if (error instanceof CoworkError && error.status === 404) {
      this.setLink('record');
      return;
    }
    this.setLink('reconnecting');
    this.retry.later(() => void this.open());
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
    if (this.frame === null && this.queue.length > 0 && !this.closed) {
      this.frame = nextFrame(() => {
        this.frame = null;
        this.takeQueue();
      });
    }
  }

  private takeQueue(): void {
    const events = this.queue;
    this.queue = [];
    if (this.answer && events.some(({ seq }) => seq > (this.answer?.state.seq ?? 0))) {
      this.answer = null;
    }
    this.change(events.reduce(reduce, this.state));
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
  const timer = setTimeout(once, MAX_FRAME_MS);
  return { cancel };
}
