/** Announces in which conversations something happened; views then ask for the details. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel, Method } from '../../shared/channel/channel';
import type { PageSocket } from '../../shared/channel/pageSocket';

/** Event types by conversation; null if anything may have happened, as after a reconnect. */
export type Activity = Readonly<Record<string, readonly string[]>> | null;

export interface IActivityFeed {
  readonly activity: ISignal<unknown, Activity>;
  listen(): void;
}

export class ActivityFeed implements IActivityFeed {
  private readonly _activity = new Signal<ActivityFeed, Activity>(this);
  private isListening = false;

  constructor(private readonly socket: Pick<PageSocket, 'listen'>) {}

  get activity(): ISignal<ActivityFeed, Activity> {
    return this._activity;
  }

  /** Idempotent. */
  listen(): void {
    if (!this.isListening) {
      this.isListening = true;
      this.socket.listen(frame => {
        if (frame.type !== 'question') {
          this._activity.emit(frame.type === 'activity' ? frame.happened : null);
        }
      });
    }
  }
}

/** Whether one of these event types occurred, in `contextId` or in any conversation. */
export function includesEvent(
  activity: Activity,
  types: readonly string[],
  contextId?: string
): boolean {
  if (activity === null) {
    return true;
  }
  const conversations =
    contextId === undefined ? Object.values(activity) : [activity[contextId] ?? []];
  return conversations.some(events => events.some(type => types.includes(type)));
}

/**
 * Calls `wake` on the first answer: a page that shows nothing of Cowork costs the server nothing,
 * and the activity feed opens only once something has asked.
 */
export class WakingChannel implements Channel {
  private isAwake = false;

  constructor(
    private readonly channel: Channel,
    private readonly wake: () => void
  ) {}

  async request<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.channel.request<Answer>(method, path, body);
    if (!this.isAwake) {
      this.isAwake = true;
      this.wake();
    }
    return answer;
  }

  subscribe: Channel['subscribe'] = (contextId, after, listener) =>
    this.channel.subscribe(contextId, after, listener);
}
