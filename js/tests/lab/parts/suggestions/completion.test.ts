import { beforeEach, describe, expect, it, vi } from 'vitest';

import { Completion } from '../../../../src/lab/parts/suggestions/completion';
import type { SuggestionServer } from '../../../../src/lab/parts/suggestions/suggestion';
import type {
  SuggestionEvent,
  SuggestionRequest
} from '../../../../src/lab/parts/suggestions/types';

const { NotebookPanel } = vi.hoisted(() => ({ NotebookPanel: class {} }));
vi.mock('@jupyterlab/notebook', () => ({ NotebookPanel }));

type Panel = Parameters<Completion['fetch']>[1]['widget'];

let type: () => void;

function panelWith(tags: string[] = [], cellType = 'code'): Panel {
  const listeners = new Set<() => void>();
  type = () => listeners.forEach(listener => listener());
  const model = {
    id: 'c0',
    type: cellType,
    metadata: { tags },
    sharedModel: { source: 'x = ' },
    contentChanged: {
      connect: (listener: () => void) => listeners.add(listener),
      disconnect: (listener: () => void) => listeners.delete(listener)
    }
  };
  const cells = [
    { id: 'c0', source: 'x = ', cell_type: 'code', metadata: { tags } },
    { id: 'c1', source: 'key', cell_type: 'code', metadata: { tags: ['private'] } }
  ];
  const content = { activeCell: { model }, model: { sharedModel: { cells } } };
  return Object.assign(new NotebookPanel(), { content }) as unknown as Panel;
}

describe('inline completion', () => {
  let requests: SuggestionRequest[];
  let signals: AbortSignal[];
  let answer: (signal: AbortSignal) => AsyncIterable<SuggestionEvent>;
  let completion: Completion;

  beforeEach(() => {
    requests = [];
    signals = [];
    answer = async function* () {
      yield { type: 'text', text: '1' };
      yield { type: 'done', source: '1 + 2', explanation: '' };
    };
    const server: SuggestionServer = {
      ask: (request, signal) => {
        requests.push(request);
        signals.push(signal);
        return answer(signal);
      },
      decide: () => undefined
    };
    completion = new Completion(() => server);
  });

  const fetch = (widget: Panel, text = 'x = ', offset = 4): Promise<string> =>
    completion.fetch({ text, offset }, { widget });

  it('asks with the cursor and without private cells, once for the same text', async () => {
    const panel = panelWith();
    expect(await fetch(panel)).toBe('1 + 2');
    expect(await fetch(panel)).toBe('1 + 2');
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ kind: 'complete', source: 'x = ', cursor: 4 });
    expect(requests[0]?.cells.map(({ id }) => id)).toEqual(['c0']);
  });

  it.each([
    ['a private cell', () => panelWith(['private']), 'x = '],
    ['words', () => panelWith([], 'markdown'), 'x = '],
    ['an empty cell', () => panelWith(), '  '],
    ['a cell that asks an agent', () => panelWith(), '%%plan\nclean '],
    ['a console', () => ({}) as Panel, 'x = ']
  ])('asks nothing for %s', async (_what, panel, text) => {
    expect(await fetch(panel(), text)).toBe('');
    expect(requests).toEqual([]);
  });

  it('is given up with the next key, and with the next question', async () => {
    answer = async function* (signal) {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error())));
      yield { type: 'done', source: 'late', explanation: '' };
    };
    const panel = panelWith();
    const first = fetch(panel);
    type();
    expect(await first).toBe('');
    expect(signals[0]?.aborted).toBe(true);
    const second = fetch(panel, 'x = 1', 5);
    const third = fetch(panel, 'x = 12', 6);
    expect(await second).toBe('');
    type();
    expect(await third).toBe('');
  });

  it('builds its request within ten milliseconds, also in a large notebook', async () => {
    const panel = panelWith();
    const many = Array.from({ length: 2000 }, (_, at) => ({
      ...{ id: `m${at}`, cell_type: 'code', metadata: {} },
      source: 'x = 1\n'.repeat(50)
    }));
    const { content } = panel as unknown as {
      content: { model: { sharedModel: { cells: object[] } } };
    };
    content.model.sharedModel.cells.push(...many);
    const built: number[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const began = performance.now();
      const asked = fetch(panel, `x = ${turn}`, 5);
      built.push(performance.now() - began);
      await asked;
    }
    expect(requests).toHaveLength(20);
    // The best of them: the others had to share the machine.
    expect(Math.min(...built)).toBeLessThan(10);
  });
});
