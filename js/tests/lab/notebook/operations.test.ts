import type { NotebookPanel } from '@jupyterlab/notebook';
import { describe, expect, it, vi } from 'vitest';

// The real one draws with web components, which goes on after a test has ended.
vi.mock('@jupyterlab/notebook', () => ({ NotebookActions: {} }));

import { answerTo } from '../../../src/lab/notebook/operations';

const picture = { output_type: 'display_data', data: { 'image/png': 'AAAA' } };

function fakeCell(id: string, source: string, outputs: object[] = []) {
  return {
    id,
    cell_type: 'code',
    source,
    execution_count: 1,
    getOutputs: () => outputs,
    getMetadata: (name: string) => (id === 'c0' && name === 'tags' ? ['private'] : undefined)
  };
}

/** A notebook with the user's cursor in the cell `c1`. */
function fakePanel({ selection = [0, 0], hasEditor = true } = {}) {
  const cells = [fakeCell('c0', 'a = 1', [picture]), fakeCell('c1', 'b = a + 1', [picture])];
  const [start, end] = selection.map(column => ({ line: 0, column }));
  const editor = {
    getSelection: () => ({ start, end }),
    getOffsetAt: ({ column }: { column: number }) => column
  };
  const model = {
    dirty: true,
    metadata: { language_info: { name: 'python' }, cowork: { expectations: [] } },
    sharedModel: { cells }
  };
  const activeCell = {
    model: { id: 'c1', sharedModel: cells[1] },
    editor: hasEditor ? editor : null
  };
  const panel = {
    isDisposed: false,
    context: { ready: Promise.resolve() },
    content: { model, activeCell }
  };
  return panel as unknown as NotebookPanel;
}

async function ask(
  op: string,
  panel: NotebookPanel,
  more: object = {}
): Promise<Record<string, unknown>> {
  return (await answerTo({ id: 1, op, path: 'n.ipynb', ...more }, panel, {
    decide: async () => undefined,
    stale: async () => []
  })) as unknown as Record<string, unknown>;
}

describe('a notebook that is asked about', () => {
  it('tells where the user is in it', async () => {
    const answer = await ask('read', fakePanel());
    expect(answer).toMatchObject({
      ok: true,
      active: 'c1',
      selected: '',
      language: 'python',
      cowork: { expectations: [] },
      unsaved: true
    });
    expect((answer['cells'] as object[]).map(cell => 'outputs' in cell)).toEqual([true, true]);
  });

  it('tells the tags of each cell, which may keep it from models', async () => {
    const answer = await ask('glance', fakePanel());
    expect((answer['cells'] as { tags: string[] }[]).map(cell => cell.tags)).toEqual([
      ['private'],
      []
    ]);
  });

  it('tells what is selected, in whichever direction it was', async () => {
    expect(await ask('read', fakePanel({ selection: [4, 9] }))).toMatchObject({
      selected: 'a + 1'
    });
    expect(await ask('read', fakePanel({ selection: [9, 4] }))).toMatchObject({
      selected: 'a + 1'
    });
  });

  it('tells the cell also if its editor is not drawn', async () => {
    expect(await ask('read', fakePanel({ hasEditor: false }))).toMatchObject({
      active: 'c1',
      selected: ''
    });
  });

  it('gives at a glance only what the cell of the user has put out', async () => {
    const { cells } = (await ask('glance', fakePanel())) as unknown as {
      cells: { source: string; outputs: object[] }[];
    };
    expect(cells.map(cell => cell.outputs.length)).toEqual([0, 1]);
    expect(cells[0]?.source).toBe('a = 1');
  });

  it('gives the pictures of one cell', async () => {
    expect(await ask('outputs', fakePanel(), { cell_id: 'c0' })).toEqual({
      ok: true,
      outputs: [picture]
    });
    expect(await ask('outputs', fakePanel(), { cell_id: 'gone' })).toMatchObject({
      ok: false,
      code: 'no_such_cell'
    });
  });
});
