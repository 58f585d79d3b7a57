/** Reads a streamed response of JSON lines. */

import { ServerConnection } from '@jupyterlab/services';

import { CoworkError, errorFromBody, isRecord } from '../../../shared/channel/channel';
import { unreachable } from '../../../shared/channel/serverChannel';
import type { SuggestionEvent, SuggestionRequest } from './types';

/** Yields complete lines, however the chunks are cut. */
export async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const whole = rest.split('\n');
      rest = done ? '' : whole.pop()!;
      yield* whole.filter(line => line.trim() !== '');
      if (done) {
        return;
      }
    }
  } finally {
    reader.cancel().catch(() => undefined); // it has ended, or was aborted
  }
}

export type Ask = (
  contextId: string,
  request: SuggestionRequest,
  signal: AbortSignal
) => AsyncGenerator<SuggestionEvent>;

/** Rejects with a `CoworkError`, also if the response breaks off. */
export function askWith(settings: ServerConnection.ISettings): Ask {
  return async function* (contextId, request, signal) {
    const response = await ServerConnection.makeRequest(
      `${settings.baseUrl}cowork/context/${contextId}/suggestions`,
      { method: 'POST', body: JSON.stringify(request), signal },
      settings
    ).catch(() => null);
    if (response === null) {
      throw unreachable();
    }
    if (!response.ok || response.body === null) {
      throw errorFromBody(response.status, await bodyOf(response)) ?? unreachable();
    }
    let isWhole = false;
    try {
      for await (const line of lines(response.body)) {
        const event = JSON.parse(line) as SuggestionEvent;
        isWhole = event.type === 'done' || event.type === 'error';
        yield event;
      }
    } catch (error) {
      throw error instanceof CoworkError ? error : unreachable();
    }
    if (!isWhole) {
      throw unreachable();
    }
  };
}

async function bodyOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => null);
  return isRecord(body) ? body : null;
}
