/** Channel to the Jupyter server: HTTP requests, and the page's WebSocket for events. */

import {
  CoworkError,
  errorFromBody,
  type Channel,
  type EventListener,
  type Method
} from './channel';
import { sharedSocket } from './pageSocket';
import { t } from '../text/translate';

const TIMEOUT_MS = 10_000;

/** Address and credentials of a Jupyter server. */
export interface ServerAddress {
  baseUrl: string;
  /** Base of WebSocket URLs, if different. */
  wsUrl?: string;
  token: string;
}

/** Jupyter's own pages carry their address; VS Code and exported HTML do not. */
export function serverAddressOfPage(page: Document = document): ServerAddress | null {
  const text = page.getElementById('jupyter-config-data')?.textContent;
  if (!text) {
    return null;
  }
  try {
    const config = JSON.parse(text) as { baseUrl?: unknown; token?: unknown };
    return typeof config.baseUrl === 'string'
      ? { baseUrl: config.baseUrl, token: typeof config.token === 'string' ? config.token : '' }
      : null;
  } catch {
    return null;
  }
}

export class ServerChannel implements Channel {
  private readonly root: string;

  constructor(private readonly address: ServerAddress) {
    this.root = `${address.baseUrl.replace(/\/*$/, '/')}cowork/`;
  }

  async request<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
    const { status, ok, text } = await this.call(method, path, body);
    const answer = parse(text);
    if (ok && answer !== undefined) {
      return answer as Answer;
    }
    throw errorFromBody(status, answer) ?? errorFromStatus(status);
  }

  subscribe(contextId: string, after: number, listener: EventListener): () => void {
    return sharedSocket(this.address).subscribe(contextId, after, listener);
  }

  /** The timeout covers the whole body, not just the headers. */
  private async call(
    method: Method,
    path: string,
    body: unknown
  ): Promise<{ status: number; ok: boolean; text: string }> {
    const clock = new AbortController();
    const timer = setTimeout(() => clock.abort(), TIMEOUT_MS);
    try {
      const response = await fetch(this.root + path, {
        method,
        headers: this.headers(body !== undefined),
        credentials: 'same-origin',
        cache: 'no-store',
        signal: clock.signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      });
      return { status: response.status, ok: response.ok, text: await response.text() };
    } catch {
      throw clock.signal.aborted ? timeoutError() : unreachable();
    } finally {
      clearTimeout(timer);
    }
  }

  private headers(hasBody: boolean): Record<string, string> {
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (hasBody) {
      headers['Content-Type'] = 'application/json';
    }
    if (this.address.token) {
      headers['Authorization'] = `token ${this.address.token}`;
    }
    const xsrf = xsrfCookie();
    if (xsrf) {
      headers['X-XSRFToken'] = xsrf;
    }
    return headers;
  }
}

/** Jupyter refuses browser requests without it, even GET. */
function xsrfCookie(): string | null {
  const match = /(?:^|;\s*)_xsrf=([^;]*)/.exec(document.cookie);
  return match?.[1] ? decodeURIComponent(match[1]) : null;
}

/** Undefined if it is not JSON: a login page answers 200 as well. */
function parse(text: string): unknown {
  if (text === '') {
    return null;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function timeoutError(): CoworkError {
  return new CoworkError({
    code: 'timeout',
    message: t('The Jupyter server took longer than 10 seconds to answer. Try again in a moment.'),
    retryable: true
  });
}

export function unreachable(): CoworkError {
  return new CoworkError({
    code: 'unreachable',
    message: t(
      'The Jupyter server does not answer. Check that it is still running, then try again.'
    ),
    retryable: true
  });
}

/** For responses that did not come from our handlers. */
function errorFromStatus(status: number): CoworkError {
  if (status === 404) {
    return new CoworkError({
      code: 'not_installed',
      message: t(
        'This Jupyter server does not have cowork_jupyter. Run "jupyter server extension ' +
          'enable cowork_jupyter", then restart Jupyter.'
      ),
      status
    });
  }
  if (status === 200 || status === 401 || status === 403) {
    return new CoworkError({
      code: 'not_logged_in',
      message: t('This page is no longer logged in to Jupyter. Reload it, log in, then try again.'),
      status
    });
  }
  return new CoworkError({
    code: 'unexpected_answer',
    message: t(
      'The Jupyter server answered with an error (%1). Its log says more.',
      String(status)
    ),
    retryable: status >= 500,
    status
  });
}
