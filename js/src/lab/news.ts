/** Hears in which conversations something has happened; what it was, those who show it ask for. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel, Method } from '../shared/channel';
import { EventSocket } from '../shared/eventSocket';
import type { Event } from '../shared/protocol';

/** What happened, by conversation; null when it may have been anything, as after a broken connection. */
export type Happened = Readonly<Record<string, readonly string[]>> | null;

export interface INews {
  readonly happened: ISignal<unknown, Happened>;
}

export class News implements INews {
  private readonly _happened = new Signal<News, Happened>(this);
  private socket: EventSocket | null = null;

  constructor(private readonly url: () => string) {}

  get happened(): ISignal<News, Happened> {
    return this._happened;
  }

  /** Does nothing the second time. */
  listen(): void {
    this.socket ??= new EventSocket(this.url, 0, {
      event: frame => this._happened.emit((frame as Event & { happened?: Happened }).happened ?? {}),
      state: state => {
        if (state === 'live') {
          this._happened.emit(null);
        }
      }
    });
  }
}

/** Where the server says it; a WebSocket cannot send headers, so a token goes into the address, as Lab does it. */
export function newsUrl(wsUrl: string, token: string): string {
  const url = new URL(`${wsUrl.replace(/\/*$/, '/')}cowork/inbox/ws`);
  if (token) {
    url.searchParams.set('token', token);
  }
  return url.href;
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
 * A channel that tells when it was first answered. Until something of ours is on the screen and has asked,
 * this page costs the server nothing; from then on it wants to hear the news.
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

  subscribe: Channel['subscribe'] = (contextId, after, listener) => this.channel.subscribe(contextId, after, listener);
}
