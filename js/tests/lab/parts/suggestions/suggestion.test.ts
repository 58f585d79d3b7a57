import { describe, expect, it } from 'vitest';

import {
  Suggestion,
  type SuggestionServer
} from '../../../../src/lab/parts/suggestions/suggestion';
import type {
  SuggestionEvent,
  SuggestionRequest
} from '../../../../src/lab/parts/suggestions/types';

const BASE: SuggestionRequest = { kind: 'fix', cell_id: 'c', source: 'old', cells: [] };

class FakeServer implements SuggestionServer {
  requests: SuggestionRequest[] = [];
  decisions: string[] = [];
  signal!: AbortSignal;
  private hold: (() => void) | null = null;

  constructor(private readonly answers: (SuggestionEvent | 'hold' | Error)[][]) {}

  async *ask(request: SuggestionRequest, signal: AbortSignal): AsyncGenerator<SuggestionEvent> {
    this.requests.push(request);
    this.signal = signal;
    for (const event of this.answers.shift() ?? []) {
      if (event === 'hold') {
        await new Promise<void>(resolve => (this.hold = resolve));
      } else if (event instanceof Error) {
        throw event;
      } else {
        yield event;
      }
    }
  }

  goOn(): void {
    this.hold?.();
  }

  decide(id: string, decision: string): void {
    this.decisions.push(`${id} ${decision}`);
  }
}

const started = (id: string): SuggestionEvent => ({ type: 'started', id, model: 'm' });
const text = (words: string): SuggestionEvent => ({ type: 'text', text: words });
const done = (source: string, explanation = ''): SuggestionEvent => ({
  type: 'done',
  source,
  explanation
});

function suggest(
  request: SuggestionRequest,
  ...answers: (SuggestionEvent | 'hold' | Error)[][]
): { server: FakeServer; one: Suggestion; phases: string[] } {
  const server = new FakeServer(answers);
  const phases: string[] = [];
  const one: Suggestion = new Suggestion(
    server,
    () => request,
    () => phases.push(`${one.phase} ${one.text}`)
  );
  return { server, one, phases };
}

describe('a suggestion', () => {
  it('grows piece by piece, and is then to be decided', async () => {
    const { one, phases, server } = suggest(BASE, [
      started('s'),
      text('ne'),
      text('w'),
      done('new', 'why')
    ]);
    await one.ask();
    expect(phases).toEqual(['asking ', 'streaming ne', 'streaming new', 'proposed new']);
    expect([one.base, one.explanation]).toEqual(['old', 'why']);
    expect(one.accept()).toBe('new');
    one.reject();
    expect(server.decisions).toEqual(['s accepted']);
  });

  it('begins anew where the model is asked again', async () => {
    const { one, phases } = suggest(BASE, [
      text('junk'),
      { type: 'reset', reason: 'format' },
      text('new'),
      done('new')
    ]);
    await one.ask();
    expect(phases).toEqual([
      'asking ',
      'streaming junk',
      'asking ',
      'streaming new',
      'proposed new'
    ]);
  });

  it.each([done('old', 'It is right.'), done('', 'It is right.')])(
    'without a new source only has words',
    async event => {
      const { one } = suggest(BASE, [text('old'), event]);
      await one.ask();
      expect([one.phase, one.text, one.explanation]).toEqual(['answered', '', 'It is right.']);
    }
  );

  it('is never a source where an explanation was asked for', async () => {
    const { one } = suggest({ ...BASE, kind: 'explain' }, [text('Be'), done('Because.')]);
    await one.ask();
    expect([one.phase, one.text]).toEqual(['answered', 'Because.']);
  });

  it('names what was tried before, and counts it as rejected', async () => {
    const { one, server } = suggest(
      BASE,
      [started('a'), done('first')],
      [started('b'), done('second')],
      [started('c'), done('third')]
    );
    await one.ask();
    await one.ask();
    await one.ask();
    expect(server.requests.map(({ tried }) => tried)).toEqual([[], ['first'], ['first', 'second']]);
    expect(server.decisions).toEqual(['a rejected', 'b rejected']);
  });

  it('ends its request when it is stopped, and takes nothing that comes after', async () => {
    const { one, server } = suggest(BASE, [started('s'), text('ne'), 'hold', done('new')]);
    const asking = one.ask();
    await new Promise(resolve => setTimeout(resolve));
    one.stop();
    expect(server.signal.aborted).toBe(true);
    server.goOn();
    await asking;
    expect(one.phase).toBe('stopped');
    expect(server.decisions).toEqual([]);
  });

  it('says what failed, whether the answer says so or breaks off', async () => {
    const failure: SuggestionEvent = { type: 'error', error: { code: 'busy', message: 'Wait.' } };
    const { one } = suggest(BASE, [failure], [text('ne'), new Error('gone')], [done('new')]);
    await one.ask();
    expect([one.phase, (one.error as Error).message]).toEqual(['failed', 'Wait.']);
    await one.ask();
    expect([one.phase, (one.error as Error).message]).toEqual(['failed', 'gone']);
    await one.ask();
    expect([one.phase, one.error]).toEqual(['proposed', null]);
  });
});
