/**
 * The page's only WebSocket. It reconnects by itself and resumes each subscription where it
 * stopped.
 */

import type { EventListener, Liveness } from './channel';
import { ReconnectingSocket } from './reconnectingSocket';
import { Retry } from './retry';
import type { Event } from '../types';
import type { ServerAddress } from './serverChannel';

/** Frames for the page as a whole. */
export type PageFrame =
  /** Connected, for the first time or again. */
  | { type: 'hello' }
  /** Event types by conversation. */
  | { type: 'activity'; happened: Record<string, string[]> }
  /** Asks about a notebook of this page. */
  | { type: 'question' };

/**
 * `answer` replies on the connection the frame came from: after a reconnect nobody waits for it.
 */
export type PageListener = (frame: PageFrame, answer: (frame: object) => void) => void;

type StreamFrame = { subscription: number } & (
  { type: 'subscribed' } | { type: 'event'; event: Event } | { type: 'refused'; code: string }
);

/** One subscription per conversation, however many cards follow it. */
interface Stream {
  contextId: string;
  /** The server's current id of the subscription; frames with another id are stale. */
  id: number;
  /** The last event received. */
  seq: number;
  isLive: boolean;
  /** For subscriptions that the server cannot serve right now. */
  retry: Retry;
  followers: Set<Follower>;
}

interface Follower {
  seq: number;
  listener: EventListener;
}

export class PageSocket {
  private readonly streams = new Map<string, Stream>();
  private readonly listeners = new Set<PageListener>();
  private readonly socket: ReconnectingSocket<PageFrame | StreamFrame>;
  private lastId = 0;

  constructor(url: string) {
    this.socket = new ReconnectingSocket(url, {
      receive: (frame, answer) => this.receive(frame, answer),
      lost: () => this.streams.forEach(stream => report(stream, 'reconnecting'))
    });
  }

  listen(listener: PageListener): void {
    this.listeners.add(listener);
    this.socket.open();
    if (this.socket.isConnected) {
      listener({ type: 'hello' }, frame => this.send(frame));
    }
  }

  /** Frames sent while disconnected are dropped; callers resend what matters on connect. */
  send(frame: object): void {
    this.socket.send(frame);
  }

  subscribe(contextId: string, after: number, listener: EventListener): () => void {
    const follower = { seq: after, listener };
    const stream = this.streams.get(contextId) ?? {
      contextId,
      id: 0,
      seq: after,
      isLive: false,
      retry: new Retry(),
      followers: new Set()
    };
    stream.followers.add(follower);
    this.streams.set(contextId, stream);
    // A new follower may need older events: resubscribe; the others skip what they have seen.
    if (stream.id === 0 || after < stream.seq) {
      stream.seq = after;
      this.ask(stream);
    } else if (stream.isLive) {
      queueMicrotask(
        () => stream.isLive && stream.followers.has(follower) && listener.state('live')
      );
    }
    this.socket.open();
    return () => {
      if (
        stream.followers.delete(follower) &&
        stream.followers.size === 0 &&
        this.streams.get(contextId) === stream
      ) {
        this.streams.delete(contextId);
        this.send({ type: 'unsubscribe', subscription: stream.id });
      }
    };
  }

  private ask(stream: Stream): void {
    if (stream.id !== 0) {
      this.send({ type: 'unsubscribe', subscription: stream.id });
    }
    stream.id = ++this.lastId;
    this.send({
      type: 'subscribe',
      subscription: stream.id,
      context_id: stream.contextId,
      after: stream.seq
    });
  }

  private receive(frame: PageFrame | StreamFrame, answer: (frame: object) => void): void {
    if ('subscription' in frame) {
      this.streams.forEach(stream => stream.id === frame.subscription && this.pass(stream, frame));
      return;
    }
    if (frame.type === 'hello') {
      this.streams.forEach(stream => {
        stream.id = 0;
        this.ask(stream);
      });
    }
    this.listeners.forEach(listener => listener(frame, answer));
  }

  private pass(stream: Stream, frame: StreamFrame): void {
    if (frame.type === 'event') {
      bring(stream, frame.event);
    } else if (frame.type === 'refused') {
      this.refused(stream, frame.code);
    } else {
      stream.retry.succeeded();
      report(stream, 'live');
    }
  }

  private refused(stream: Stream, code: string): void {
    if (code === 'not_found') {
      this.streams.delete(stream.contextId);
      report(stream, 'gone');
    } else {
      report(stream, 'reconnecting');
      const { id } = stream;
      stream.retry.later(() => stream.id === id && stream.followers.size > 0 && this.ask(stream));
    }
  }
}

function report(stream: Stream, state: Liveness): void {
  stream.isLive = state === 'live';
  eachOf(stream, ({ listener }) => listener.state(state));
}

function bring(stream: Stream, event: Event): void {
  stream.seq = Math.max(stream.seq, event.seq);
  eachOf(stream, follower => {
    if (event.seq > follower.seq) {
      follower.seq = event.seq;
      follower.listener.event(event);
    }
  });
}

/** Iterates over a copy: listeners may unsubscribe themselves and others. */
function eachOf(stream: Stream, tell: (follower: Follower) => void): void {
  [...stream.followers].forEach(follower => stream.followers.has(follower) && tell(follower));
}

/** WebSockets cannot send headers, so the token goes into the URL, as in Lab. */
export function socketUrl({ baseUrl, wsUrl, token }: ServerAddress): string {
  const url = new URL(`${(wsUrl ?? baseUrl).replace(/\/*$/, '/')}cowork/ws`, document.baseURI);
  url.protocol = url.protocol.replace('http', 'ws');
  if (token) {
    url.searchParams.set('token', token);
  }
  return url.href;
}

/** The number changes with the class above: scripts of two versions may share a page. */
export const SHARED = Symbol.for('cowork-jupyter:sockets:1');

/** Stored on the page, because a widget's script runs once per widget. */
export function sharedSocket(address: ServerAddress): PageSocket {
  const page = window as { [SHARED]?: Map<string, PageSocket> };
  const sockets = (page[SHARED] ??= new Map<string, PageSocket>());
  const url = socketUrl(address);
  const socket = sockets.get(url) ?? new PageSocket(url);
  sockets.set(url, socket);
  return socket;
}
