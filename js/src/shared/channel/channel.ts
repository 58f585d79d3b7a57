/** How components reach the agent, whether a server or a kernel answers. */

import type { Event } from '../types';
import { translateKnown, t } from '../text/translate';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface Channel {
  /** `path` is relative to `cowork/`. Rejects only with a `CoworkError`. */
  request<Answer>(method: Method, path: string, body?: unknown): Promise<Answer>;

  /**
   * Delivers every event of a context after `after` exactly once and in order, across reconnects.
   * The returned function unsubscribes; nothing is delivered after that.
   */
  subscribe(contextId: string, after: number, listener: EventListener): () => void;
}

/** `reconnecting`: retrying. `gone`: the context does not exist; no more retries. */
export type Liveness = 'live' | 'reconnecting' | 'gone';

export interface EventListener {
  event(event: Event): void;
  state(state: Liveness): void;
}

interface ErrorFields {
  code: string;
  message: string;
  retryable?: boolean;
  details?: unknown;
  /** HTTP status, or 0 if there was no response. */
  status?: number;
}

/** A failure whose message can be shown to the user. */
export class CoworkError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly details: unknown;
  readonly status: number;

  constructor(fields: ErrorFields) {
    super(fields.message);
    this.name = 'CoworkError';
    this.code = fields.code;
    this.retryable = fields.retryable ?? false;
    this.details = fields.details ?? null;
    this.status = fields.status ?? 0;
  }
}

export function hasCode(error: unknown, code: string): error is CoworkError {
  return error instanceof CoworkError && error.code === code;
}

/** Parses `{"error": {…}}`; null for any other body (a proxy's page, another handler's JSON). */
export function errorFromBody(status: number, body: unknown): CoworkError | null {
  const error = isRecord(body) ? body['error'] : undefined;
  if (!isRecord(error) || typeof error['message'] !== 'string') {
    return null;
  }
  return new CoworkError({
    code: typeof error['code'] === 'string' ? error['code'] : 'unknown',
    message: error['message'],
    retryable: error['retryable'] === true,
    details: error['details'],
    status
  });
}

export function messageOf(error: unknown): string {
  return error instanceof CoworkError
    ? translateKnown(error.message)
    : t('Something went wrong in this page. Reload it, then try again.');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
