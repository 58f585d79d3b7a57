/** A WebSocket that reconnects for as long as the page is open. */

import { Retry } from './retry';

interface SocketListener<Frame> {
  /**
   * `answer` replies on the connection the frame came from: after a reconnect nobody waits for it.
   */
  receive(frame: Frame, answer: (frame: object) => void): void;
  lost(): void;
}

export class ReconnectingSocket<Frame extends { type: string }> {
  private socket: WebSocket | null = null;
  private readonly retry = new Retry();
  private isOpen = false;
  private isGreeted = false;

  constructor(
    private readonly url: string,
    private readonly listener: SocketListener<Frame>
  ) {}

  /** True once the server has said hello: a proxy may accept any connection. */
  get isConnected(): boolean {
    return this.isGreeted;
  }

  /** Stays open: there is one per page, and it is idle while nothing happens. */
  open(): void {
    if (!this.isOpen) {
      this.isOpen = true;
      // A laptop that wakes up should not wait out a long pause.
      window.addEventListener('online', () => this.connect());
      this.connect();
    }
  }

  /** Drops the frame if disconnected. */
  send(frame: object): void {
    if (this.isGreeted) {
      this.socket?.send(JSON.stringify(frame));
    }
  }

  private connect(): void {
    if (this.socket !== null) {
      return;
    }
    this.retry.cancel();
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      if (socket === this.socket) {
        const frame = JSON.parse(data) as Frame;
        if (frame.type === 'hello') {
          this.isGreeted = true;
          this.retry.succeeded();
        }
        this.listener.receive(frame, answer => socket === this.socket && this.send(answer));
      }
    };
    socket.onclose = () => {
      if (socket === this.socket) {
        this.socket = null;
        this.isGreeted = false;
        this.retry.later(() => this.connect());
        this.listener.lost();
      }
    };
  }
}
