import { vi } from 'vitest';

import { SHARED } from '../../../src/shared/channel/pageSocket';

type Frame = Record<string, unknown>;

/** A WebSocket without a network: the test greets, speaks and closes for the server. */
export class FakeSocket {
  static all: FakeSocket[] = [];
  readonly url: URL;
  /** What the page has said. */
  readonly sent: Frame[] = [];
  readyState = 0;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  /** From now on; the page's sockets of earlier tests are forgotten. */
  static install(): void {
    FakeSocket.all = [];
    Reflect.deleteProperty(window, SHARED);
    vi.stubGlobal('WebSocket', FakeSocket);
  }

  constructor(url: string) {
    this.url = new URL(url);
    FakeSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Frame);
  }

  tell(frame: Frame): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  /** The server lets the page in. */
  greet(): void {
    this.readyState = 1;
    this.tell({ type: 'hello' });
  }

  lose(code = 1006): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}
