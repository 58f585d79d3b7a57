/** How components reach the agent. Whether a server or a kernel answers is not theirs to know. */

import type { Event } from '../types';
import { said, t } from '../text/translate';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface Channel {
  /**
   * Ask; `path` is relative to `cowork/`. Rejects with a `CoworkError`, never with anything else.
   */
  request<Answer>(method: Method, path: string, body?: unknown): Promise<Answer>;

  /**
   * Brings every event of a context after `after`, each once and in order, over however many
   * connections it takes. The function it gives ends the subscription; nothing comes after that.
   */
  subscribe(contextId: string, after: number, listener: EventListener): () => void;
}

/**
 * `live`: events come as they happen. `reconnecting`: it tries again by itself. `gone`: there is no
 * such context, and it gave up.
 */
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
  /** The HTTP status, or 0 when no answer came at all. */
  status?: number;
}

/** A refusal or a failure whose message can be shown to the user as it is. */
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

/**
 * Reads `{"error": {…}}`; null when the body is something else (a proxy's page, another handler's
 * JSON).
 */
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

/** For whatever was thrown: the sentence to show. */
export function messageOf(error: unknown): string {
  return error instanceof CoworkError
    ? said(error.message)
    : t('Something went wrong in this page. Reload it, then try again.');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
