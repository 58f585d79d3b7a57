import type { Channel, CoworkError, EventListener, Method } from '../shared/channel/channel';

/** Codes from a Jupyter server without Cowork, or one this page is not logged in to. */
const FOREIGN_ERRORS = ['not_installed', 'not_logged_in', 'unexpected_answer'];

/**
 * Prefers the server, which answers while the kernel is busy, and falls back to the kernel. The
 * choice is made on the first request, so that untouched cards cost nothing; a read request is
 * itself the probe.
 */
export class ChosenChannel implements Channel {
  private choice: Promise<Channel> | null = null;

  constructor(
    private readonly server: Channel | null,
    private readonly kernel: Channel
  ) {}

  async request<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
    const first =
      this.choice === null && method === 'GET' && this.server?.request<Answer>(method, path, body);
    this.choice ??= this.choose(first || this.server?.request('GET', 'health'));
    const channel = await this.choice;
    return first && channel === this.server ? first : channel.request<Answer>(method, path, body);
  }

  subscribe(contextId: string, after: number, listener: EventListener): () => void {
    let end: (() => void) | null = null;
    let ended = false;
    this.choice ??= this.choose(this.server?.request('GET', 'health'));
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

  private async choose(trial: Promise<unknown> | undefined): Promise<Channel> {
    if (this.server === null) {
      return this.kernel;
    }
    try {
      await trial;
      return this.server;
    } catch (error) {
      const { status, code } = error as CoworkError;
      if (status === 0) {
        // Unavailable for now: try the server again next time.
        this.choice = null;
      }
      return status === 0 || status >= 500 || FOREIGN_ERRORS.includes(code)
        ? this.kernel
        : this.server;
    }
  }
}
