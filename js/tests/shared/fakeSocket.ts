import { vi } from 'vitest';

/** A WebSocket without a network: the test opens, speaks and closes for the server. */
export class FakeSocket {
  static all: FakeSocket[] = [];
  readonly url: URL;
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  static install(): void {
    FakeSocket.all = [];
    vi.stubGlobal('WebSocket', FakeSocket);
  }

  constructor(url: string) {
    this.url = new URL(url);
    FakeSocket.all.push(this);
  }

  close(): void {
    this.readyState = 3;
    this.onclose?.({ code: 1000 });
  }

  lose(code: number): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}
