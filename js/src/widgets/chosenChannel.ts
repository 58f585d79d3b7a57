/** Picks the server when it works, else the kernel. */

import { CoworkError, type Channel, type EventListener, type Method } from '../shared/channel';

/**
 * The server goes first because it answers while the kernel is busy; the choice waits for the first
 * request, so that cards nobody clicks cost nothing.
 */
export class ChosenChannel implements Channel {
  private choice: Promise<Channel> | null = null;

  constructor(
    private readonly server: Channel | null,
    private readonly kernel: Channel
  ) {}

  async request<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
    this.choice ??= this.choose();
    const channel = await this.choice;
    return channel.request<Answer>(method, path, body);
  }

  subscribe(contextId: string, after: number, listener: EventListener): () => void {
    let end: (() => void) | null = null;
    let ended = false;
    this.choice ??= this.choose();
    void this.choice.then(channel => {
      if (!ended) {
        end = channel.subscribe(contextId, after, listener);
      }
    });
    return () => {
      ended = true;
      end?.();
    };
  }

  private async choose(): Promise<Channel> {
    if (this.server === null) {
      return this.kernel;
    }
    try {
      await this.server.request('GET', 'health');
      return this.server;
    } catch (error) {
      if (error instanceof CoworkError && error.status === 0) {
        // It was not there just now; ask it again next time.
        this.choice = null;
      }
      return this.kernel;
    }
  }
}
