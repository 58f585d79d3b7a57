/** Events of one context over the widget's messages. */

import { CoworkError, pauseBefore, type EventListener, type Liveness } from '../shared/channel';
import type { Event } from '../shared/types';
import { nextId, type KernelChannel } from './kernelChannel';

/**
 * The kernel sends what a SUBSCRIBE asks for under that message's number. A kernel that was too
 * busy to answer is asked again, and told to forget the older question, which it may still find in
 * its queue.
 */
export class KernelSubscription {
  private readonly path: string;
  private id = 0;
  private attempts = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
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

  /** Events may overtake the answer to the SUBSCRIBE, and are as good. */
  receive(subscription: number, event: Event): void {
    if (subscription === this.id && !this.ended && event.seq > this.seq) {
      this.seq = event.seq;
      this.listener.event(event);
    }
  }

  end(): void {
    if (!this.ended) {
      this.ended = true;
      clearTimeout(this.timer);
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
      this.attempts = 0;
      this.report('live');
    } catch (error) {
      if (error instanceof CoworkError && error.status === 404) {
        this.report('gone');
      } else if (!this.ended) {
        this.report('reconnecting');
        this.timer = setTimeout(() => {
          this.forget();
          void this.begin();
        }, pauseBefore(this.attempts++));
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
