/** Hears in which conversations something has happened; what it was, those who show it ask for. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel, Method } from '../shared/channel';
import type { PageSocket } from '../shared/pageSocket';

/**
 * What happened, by conversation; null when it may have been anything, as after a broken
 * connection.
 */
export type Happened = Readonly<Record<string, readonly string[]>> | null;

export interface INews {
  readonly happened: ISignal<unknown, Happened>;
  listen(): void;
}

export class News implements INews {
  private readonly _happened = new Signal<News, Happened>(this);
  private isListening = false;

  constructor(private readonly socket: Pick<PageSocket, 'listen'>) {}

  get happened(): ISignal<News, Happened> {
    return this._happened;
  }

  /** Does nothing the second time. */
  listen(): void {
    if (!this.isListening) {
      this.isListening = true;
      this.socket.listen(frame => {
        if (frame.type !== 'question') {
          this._happened.emit(frame.type === 'activity' ? frame.happened : null);
        }
      });
    }
  }
}

/** Whether something of these kinds happened, in this conversation if one is named. */
export function tells(happened: Happened, kinds: readonly string[], contextId?: string): boolean {
  if (happened === null) {
    return true;
  }
  const places = contextId === undefined ? Object.values(happened) : [happened[contextId] ?? []];
  return places.some(place => place.some(kind => kinds.includes(kind)));
}

/**
 * A channel that tells when it was first answered. Until something of ours is on the screen and has
 * asked, this page costs the server nothing; from then on it wants to hear the news.
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
