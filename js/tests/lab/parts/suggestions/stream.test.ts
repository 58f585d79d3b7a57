import { afterEach, describe, expect, it, vi } from 'vitest';

import { askWith, lines } from '../../../../src/lab/parts/suggestions/stream';
import type {
  SuggestionEvent,
  SuggestionRequest
} from '../../../../src/lab/parts/suggestions/types';

const { makeRequest } = vi.hoisted(() => ({ makeRequest: vi.fn() }));
vi.mock('@jupyterlab/services', () => ({ ServerConnection: { makeRequest } }));

const REQUEST: SuggestionRequest = { kind: 'fix', cell_id: 'c', source: 'x', cells: [] };

function streamed(...pieces: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      pieces.forEach(piece => controller.enqueue(piece));
      controller.close();
    }
  });
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) {
    found.push(item);
  }
  return found;
}

const ask = (): Promise<SuggestionEvent[]> =>
  all(askWith({ baseUrl: '/' } as never)('c1', REQUEST, new AbortController().signal));

describe('an answer that comes line by line', () => {
  const bytes = new TextEncoder().encode('{"text":"größe"}\n\n{"text":"🐍"}\n{"last":1}');

  it.each([1, 2, 3, 7, 1000])('is read in pieces of %i bytes', async size => {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size)
    );
    expect(await all(lines(streamed(...pieces)))).toEqual([
      '{"text":"größe"}',
      '{"text":"🐍"}',
      '{"last":1}'
    ]);
  });

  it('gives a line as soon as it is whole', async () => {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const reading = lines(new ReadableStream({ start: made => void (controller = made) }));
    controller.enqueue(new TextEncoder().encode('one\ntw'));
    expect((await reading.next()).value).toBe('one');
    controller.enqueue(new TextEncoder().encode('o\n'));
    expect((await reading.next()).value).toBe('two');
  });
});

describe('asking for a suggestion', () => {
  afterEach(() => makeRequest.mockReset());
  const answers = (text: string, status = 200): void =>
    void makeRequest.mockResolvedValue(new Response(text, { status }));

  it('sends it to the conversation and gives each event', async () => {
    answers('{"type":"started","id":"s"}\n{"type":"done","source":"y"}\n');
    expect((await ask()).map(({ type }) => type)).toEqual(['started', 'done']);
    const [url, { method, body }] = makeRequest.mock.calls[0] as [string, RequestInit];
    expect([url, method]).toEqual(['/cowork/context/c1/suggestions', 'POST']);
    expect(JSON.parse(body as string)).toEqual(REQUEST);
  });

  it('says what the server says when it refuses', async () => {
    answers('{"error":{"code":"busy","message":"Wait a minute."}}', 409);
    await expect(ask()).rejects.toMatchObject({ code: 'busy', message: 'Wait a minute.' });
  });

  it.each(['{"type":"started","id":"s"}\n', '{"type":"text","te', '<html>'])(
    'does not take for whole what breaks off: %s',
    async text => {
      answers(text);
      await expect(ask()).rejects.toMatchObject({ code: 'unreachable' });
    }
  );

  it('says so when there is no answer', async () => {
    makeRequest.mockRejectedValue(new TypeError('network'));
    await expect(ask()).rejects.toMatchObject({ code: 'unreachable', retryable: true });
  });
});
