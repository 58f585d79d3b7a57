/** The line on which the server asks this page about its notebooks; it comes back by itself when it was cut. */

import { pauseBefore } from '../../shared/channel';

/** Larger messages are refused by the server, so long answers go in parts. */
const PART = 500_000;

export interface Question {
  id: number;
  op: string;
  path: string;
}

export type Answer = { ok: true } | { ok: false; code: string; message?: string };

export class TabSocket {
  private socket: WebSocket | null = null;
  private attempts = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private started = false;

  constructor(
    private readonly url: string,
    private readonly asked: (question: Question) => Promise<Answer>,
    private readonly connected: () => void
  ) {}

  /** Does nothing the second time. */
  start(): void {
    if (!this.started) {
      this.started = true;
      // A laptop that wakes up should not have to wait out a long pause.
      window.addEventListener('online', () => this.connectNow());
      this.connect();
    }
  }

  send(message: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(message));
    }
  }

  private connect(): void {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onopen = () => {
      this.attempts = 0;
      this.connected();
    };
    socket.onmessage = ({ data }: MessageEvent<string>) => void this.answer(JSON.parse(data) as Question, socket);
    socket.onclose = () => {
      this.socket = null;
      this.timer = setTimeout(() => this.connect(), pauseBefore(this.attempts++));
    };
  }

  private connectNow(): void {
    if (this.socket === null) {
      clearTimeout(this.timer);
      this.connect();
    }
  }

  /** To whom has asked, and to nobody else: after a reconnect the question is gone. */
  private async answer(question: Question, socket: WebSocket): Promise<void> {
    const text = JSON.stringify(await this.asked(question));
    for (let start = 0; start < text.length && socket.readyState === WebSocket.OPEN; start += PART) {
      const last = start + PART >= text.length;
      socket.send(JSON.stringify({ answer: question.id, part: text.slice(start, start + PART), last }));
    }
  }
}

/** A WebSocket cannot send headers, so a token goes into the address, as Lab does it. */
export function tabUrl(wsUrl: string, token: string): string {
  const url = new URL(`${wsUrl.replace(/\/*$/, '/')}cowork/notebooks/ws`);
  if (token) {
    url.searchParams.set('token', token);
  }
  return url.href;
}
