import { CoworkError, type EventListener, type Liveness } from '../shared/channel/channel';
import { Retry } from '../shared/channel/retry';
import type { Event } from '../shared/types';
import { nextId, type KernelChannel } from './kernelChannel';

/**
 * The kernel tags events with the id of the SUBSCRIBE message. If it was too busy to answer,
 * subscribe again and cancel the older id, which may still be in its queue.
 */
export class KernelSubscription {
  private readonly path: string;
  private id = 0;
  private readonly retry = new Retry();
  private ended = false;

  constructor(
    private readonly channel: KernelChannel,
    contextId: string,
    private seq: number,
    private readonly listener: EventListener
  ) {
    this.path = `context/${contextId}/events`;
    void this.begin();
  }

  /** Events may overtake the reply to SUBSCRIBE; they confirm it as well. */
  receive(subscription: number, event: Event): void {
    if (subscription === this.id && !this.ended && event.seq > this.seq) {
      this.seq = event.seq;
      this.listener.event(event);
    }
  }

  end(): void {
    if (!this.ended) {
      this.ended = true;
      this.retry.cancel();
      this.forget();
    }
  }

  private async begin(): Promise<void> {
    this.id = nextId();
    try {
      await this.channel.ask(this.id, {
        method: 'SUBSCRIBE',
        path: this.path,
        body: { after: this.seq }
      });
      this.retry.succeeded();
      this.report('live');
    } catch (error) {
      if (error instanceof CoworkError && error.status === 404) {
        this.report('gone');
      } else if (!this.ended) {
        this.report('reconnecting');
        this.retry.later(() => {
          this.forget();
          void this.begin();
        });
      }
    }
  }

  private forget(): void {
    this.channel.tell({
      id: nextId(),
      method: 'UNSUBSCRIBE',
      path: this.path,
      body: { subscription: this.id }
    });
  }

  private report(state: Liveness): void {
    if (!this.ended) {
      this.listener.state(state);
    }
  }
}
