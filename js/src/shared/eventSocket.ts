/** Events over a WebSocket that comes back by itself, from where it was cut off. */

import { pauseBefore, type EventListener } from './channel';
import type { Event } from './protocol';

/** What the server closes with when it does not know the context. */
const NO_SUCH_CONTEXT = 4404;

export class EventSocket {
  private socket: WebSocket | null = null;
  private attempts = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private readonly wake = (): void => this.connectNow();

  constructor(
    private readonly url: (after: number) => string,
    private seq: number,
    private readonly listener: EventListener
  ) {
    // A laptop that wakes up should not have to wait out a long pause.
    window.addEventListener('online', this.wake);
    this.connect();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    window.removeEventListener('online', this.wake);
    const { socket } = this;
    // First forgotten, then closed: its last words are for nobody.
    this.socket = null;
    socket?.close();
  }

  private connect(): void {
    const socket = new WebSocket(this.url(this.seq));
    this.socket = socket;
    socket.onopen = () => {
      if (socket === this.socket) {
        this.listener.state('live');
      }
    };
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      if (socket === this.socket) {
        this.receive(data);
      }
    };
    socket.onclose = ({ code }) => {
      if (socket === this.socket) {
        this.lost(code);
      }
    };
  }

  private receive(text: string): void {
    this.attempts = 0;
    const event = JSON.parse(text) as Event;
    if (event.seq > this.seq) {
      this.seq = event.seq;
      this.listener.event(event);
    }
  }

  private lost(code: number): void {
    this.socket = null;
    if (code === NO_SUCH_CONTEXT) {
      this.close();
      this.listener.state('gone');
      return;
    }
    this.listener.state('reconnecting');
    this.timer = setTimeout(() => this.connect(), pauseBefore(this.attempts++));
  }

  private connectNow(): void {
    if (!this.closed && this.socket === null) {
      clearTimeout(this.timer);
      this.connect();
    }
  }
}
