/** The life cycle of one suggestion, from the request to the user's decision. */

import { CoworkError } from '../../../shared/channel/channel';
import type { SuggestionEvent, SuggestionRequest } from './types';

/** `proposed`: a new source needs a decision. `answered`: only text, nothing to decide. */
export type Phase = 'asking' | 'streaming' | 'proposed' | 'answered' | 'failed' | 'stopped';

export interface SuggestionServer {
  ask(request: SuggestionRequest, signal: AbortSignal): AsyncIterable<SuggestionEvent>;
  decide(id: string, decision: 'accepted' | 'rejected'): void;
}

const MAX_TRIED = 10;

export class Suggestion {
  phase: Phase = 'asking';
  /** The new source so far, or the text of an explanation. */
  text = '';
  explanation = '';
  error: unknown = null;
  /** The source that the proposal changes. */
  base = '';
  private id: string | null = null;
  private tried: string[] = [];
  private asking = new AbortController();

  constructor(
    private readonly server: SuggestionServer,
    /** Builds the request from the cell's current state. */
    private readonly request: () => SuggestionRequest,
    private readonly onChange: () => void
  ) {}

  get isBusy(): boolean {
    return this.phase === 'asking' || this.phase === 'streaming';
  }

  /** Asks, or asks again after a proposal that was not good enough. */
  async ask(): Promise<void> {
    if (this.phase === 'proposed') {
      this.tried = [...this.tried, this.text].slice(-MAX_TRIED);
    }
    this.reject();
    const asking = (this.asking = new AbortController());
    const request = this.request();
    Object.assign(this, { base: request.source, text: '', explanation: '', error: null });
    this.move('asking');
    try {
      const answer = this.server.ask({ ...request, tried: this.tried }, asking.signal);
      for await (const event of answer) {
        if (asking.signal.aborted) {
          return;
        }
        this.take(event, request);
      }
    } catch (error) {
      if (!asking.signal.aborted) {
        this.fail(error);
      }
    }
  }

  /** Cancels the request and discards what has streamed. */
  stop(): void {
    if (this.isBusy) {
      this.asking.abort();
      this.move('stopped');
    }
  }

  /** Returns the accepted source. */
  accept(): string {
    this.decide('accepted');
    return this.text;
  }

  /** Also cancels a pending request. */
  reject(): void {
    this.asking.abort();
    if (this.phase === 'proposed') {
      this.decide('rejected');
    }
  }

  fail(error: unknown): void {
    this.error = error;
    this.move('failed');
  }

  private take(event: SuggestionEvent, { kind, source }: SuggestionRequest): void {
    switch (event.type) {
      case 'started':
        this.id = event.id;
        break;
      case 'text':
        this.text += event.text;
        this.move('streaming');
        break;
      case 'reset':
        this.text = '';
        this.move('asking');
        break;
      case 'error':
        this.fail(new CoworkError(event.error));
        break;
      case 'done': {
        this.explanation = event.explanation;
        const isNew = event.source.trim() !== '' && event.source !== source;
        this.text = isNew || kind === 'explain' ? event.source : '';
        this.move(isNew && kind !== 'explain' ? 'proposed' : 'answered');
      }
    }
  }

  private decide(decision: 'accepted' | 'rejected'): void {
    if (this.id !== null) {
      this.server.decide(this.id, decision);
      this.id = null;
    }
  }

  private move(phase: Phase): void {
    this.phase = phase;
    this.onChange();
  }
}
