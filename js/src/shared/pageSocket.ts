/**
 * The one WebSocket of a page: it comes back by itself, and each subscription goes on from where it
 * was cut off.
 */

import { pauseBefore, type EventListener, type Liveness } from './channel';
import type { Event } from './types';
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
  followers: Set<Follower>;
}

interface Follower {
  seq: number;
  listener: EventListener;
}

export class PageSocket {
  private readonly streams = new Map<string, Stream>();
  private readonly listeners = new Set<PageListener>();
  private socket: WebSocket | null = null;
  private isOpen = false;
  private isConnected = false;
  private attempts = 0;
  private lastId = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly url: string) {}

  listen(listener: PageListener): void {
    this.listeners.add(listener);
    this.open();
    if (this.isConnected) {
      listener({ type: 'hello' }, frame => this.send(frame));
    }
  }

  /**
   * Says something if somebody is there to hear it; what must be heard is said again when
   * connected.
   */
  send(frame: object): void {
    if (this.isConnected) {
      this.socket?.send(JSON.stringify(frame));
    }
  }

  subscribe(contextId: string, after: number, listener: EventListener): () => void {
    const follower = { seq: after, listener };
    const stream = this.streams.get(contextId) ?? {
      contextId,
      id: 0,
      seq: after,
      isLive: false,
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
    this.open();
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

  /** Once open it stays so: it is one for each page, and costs nothing while nothing happens. */
  private open(): void {
    if (!this.isOpen) {
      this.isOpen = true;
      // A laptop that wakes up should not have to wait out a long pause.
      window.addEventListener('online', () => this.connectNow());
      this.connect();
    }
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

  private connect(): void {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      if (socket === this.socket) {
        this.receive(JSON.parse(data) as PageFrame | StreamFrame, socket);
      }
    };
    socket.onclose = () => {
      if (socket === this.socket) {
        this.lost();
      }
    };
  }

  private receive(frame: PageFrame | StreamFrame, socket: WebSocket): void {
    if ('subscription' in frame) {
      this.streams.forEach(stream => stream.id === frame.subscription && this.pass(stream, frame));
      return;
    }
    // Only now is it known to be our server, not something on the way that takes every connection.
    if (frame.type === 'hello') {
      this.isConnected = true;
      this.attempts = 0;
      this.streams.forEach(stream => {
        stream.id = 0;
        this.ask(stream);
      });
    }
    this.listeners.forEach(listener =>
      listener(frame, answer => socket === this.socket && this.send(answer))
    );
  }

  private pass(stream: Stream, frame: StreamFrame): void {
    if (frame.type === 'event') {
      bring(stream, frame.event);
    } else if (frame.type === 'refused') {
      this.refused(stream, frame.code);
    } else {
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
      setTimeout(
        () => stream.id === id && stream.followers.size > 0 && this.ask(stream),
        pauseBefore(this.attempts++)
      );
    }
  }

  private lost(): void {
    this.socket = null;
    this.isConnected = false;
    this.timer = setTimeout(() => this.connect(), pauseBefore(this.attempts++));
    this.streams.forEach(stream => report(stream, 'reconnecting'));
  }

  private connectNow(): void {
    if (this.socket === null) {
      clearTimeout(this.timer);
      this.connect();
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
