/**
 * The one WebSocket of a page: it comes back by itself, and each subscription goes on from where it
 * was cut off.
 */

import type { EventListener, Liveness } from './channel';
import { ReconnectingSocket } from './reconnectingSocket';
import { Retry } from './retry';
import type { Event } from '../types';
import type { ServerAddress } from './serverChannel';

/** What the server says to the page as a whole. */
export type PageFrame =
  /** The connection stands, for the first time or again. */
  | { type: 'hello' }
  /** What happened, by conversation. */
  | { type: 'activity'; happened: Record<string, string[]> }
  /** About a notebook of this page. */
  | { type: 'question' };

/** An answer goes to where the question came from: after a reconnect nobody waits for it. */
export type PageListener = (frame: PageFrame, answer: (frame: object) => void) => void;

type StreamFrame = { subscription: number } & (
  { type: 'subscribed' } | { type: 'event'; event: Event } | { type: 'refused'; code: string }
);

/** One conversation, over one subscription, for however many cards follow it. */
interface Stream {
  contextId: string;
  /** How the server knows it now; what comes under another number is no longer wanted. */
  id: number;
  /** The last event that has come. */
  seq: number;
  isLive: boolean;
  /** For when the server cannot serve it just now. */
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

  /** What must be heard is said again when connected. */
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
    // Who needs what the others have seen makes it come again; the others do not see it twice.
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

/** Whoever hears something may leave, and may make others leave. */
function eachOf(stream: Stream, tell: (follower: Follower) => void): void {
  [...stream.followers].forEach(follower => stream.followers.has(follower) && tell(follower));
}

/** A WebSocket cannot send headers, so a token goes into the address, as Lab does it. */
export function socketUrl({ baseUrl, wsUrl, token }: ServerAddress): string {
  const url = new URL(`${(wsUrl ?? baseUrl).replace(/\/*$/, '/')}cowork/ws`, document.baseURI);
  url.protocol = url.protocol.replace('http', 'ws');
  if (token) {
    url.searchParams.set('token', token);
  }
  return url.href;
}

/** Its number changes with the class above: scripts of two versions of ours may meet in a page. */
export const SHARED = Symbol.for('cowork-jupyter:sockets:1');

/**
 * The page's socket to this server. It is the page that keeps it, as a widget's script runs once
 * for each widget.
 */
export function sharedSocket(address: ServerAddress): PageSocket {
  const page = window as { [SHARED]?: Map<string, PageSocket> };
  const sockets = (page[SHARED] ??= new Map<string, PageSocket>());
  const url = socketUrl(address);
  const socket = sockets.get(url) ?? new PageSocket(url);
  sockets.set(url, socket);
  return socket;
}
