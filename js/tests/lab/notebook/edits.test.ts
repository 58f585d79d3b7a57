import { YNotebook } from '@jupyter/ydoc';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { CellChange } from '../../../src/lab/notebook/cellChanges';
import {
  applyEdit,
  asCode,
  Refusal,
  spliceSource,
  revertChange,
  type Edit,
  type SharedNotebook
} from '../../../src/lab/notebook/edits';

/** The document that Lab itself has, set up as Lab does it. */
let notebook: SharedNotebook;

beforeEach(() => {
  // Yjs warns about what its own document package does.
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  notebook = open('one', 'two', 'three');
});

function open(...sources: string[]): SharedNotebook {
  const cells = sources.map((source, number) => ({
    cell_type: 'code',
    id: `c${number}`,
    source,
    metadata: {},
    outputs: []
  }));
  return YNotebook.create({
    disableDocumentWideUndoRedo: true,
    data: { nbformat: 4, nbformat_minor: 5, metadata: {}, cells } as never
  }) as unknown as SharedNotebook;
}

function edit(kind: Edit['kind'], cell_id: string, more: Partial<Edit> = {}): Edit {
  return { kind, cell_id, after: null, expected: null, source: '', cell_type: 'code', ...more };
}

/** The change that an edit makes, as the server keeps it. */
function change(
  cell_id: string,
  before: string | null,
  after: string | null,
  more: Partial<CellChange> = {}
): CellChange {
  const text = (source: string | null): CellChange['before'] =>
    source === null ? null : { cell_type: 'code', source };
  return {
    id: `cc_${cell_id}`,
    cell_id,
    before: text(before),
    after: text(after),
    moved: false,
    above: null,
    ...more
  };
}

const sources = (): string[] => notebook.cells.map(cell => cell.source);
const ids = (): string[] => notebook.cells.map(cell => cell.id);

describe('what we keep in the metadata', () => {
  it('changes key by key, and cells with unsaved typing stay as they are', () => {
    notebook.setMetadata('cowork', { watch: true, expectations: [] });
    notebook.cells[1]!.updateSource(0, 3, 'typed just now');
    const expectations = [{ id: 'exp_1', of: 'df', check: 'rows', value: 3 }];
    expect(applyEdit(notebook, edit('metadata', '', { metadata: { expectations } }))).toBeNull();
    expect(notebook.getMetadata('cowork')).toEqual({ watch: true, expectations });
    expect(notebook.cells.map(cell => cell.source)).toEqual(['one', 'typed just now', 'three']);
    expect(notebook.getMetadata('kernelspec')).toBeUndefined();
  });

  it('is no step of the user to undo', () => {
    notebook.cells[0]!.updateSource(0, 3, 'first');
    applyEdit(notebook, edit('metadata', '', { metadata: { expectations: [] } }));
    expect(notebook.getMetadata('cowork')).toEqual({ expectations: [] });
    notebook.cells[0]!.undo();
    expect(notebook.cells[0]!.source).toBe('one');
    expect(notebook.getMetadata('cowork')).toEqual({ expectations: [] });
  });
});

describe('one change of one cell', () => {
  it('inserts behind a cell or at the top, and goes back', () => {
    applyEdit(notebook, edit('insert', 'new', { after: 'c0', source: 'x' }));
    applyEdit(notebook, edit('insert', 'top', { source: 'y', cell_type: 'markdown' }));
    expect(sources()).toEqual(['y', 'one', 'x', 'two', 'three']);
    expect(notebook.cells[0]?.cell_type).toBe('markdown');
    revertChange(notebook, change('new', null, 'x'));
    expect(sources()).toEqual(['y', 'one', 'two', 'three']);
  });

  it.each([
    ['c0', 'c1', ['c1', 'c0', 'c2']],
    ['c0', 'c2', ['c1', 'c2', 'c0']],
    ['c2', null, ['c2', 'c0', 'c1']],
    ['c2', 'c0', ['c0', 'c2', 'c1']],
    ['c1', 'c0', ['c0', 'c1', 'c2']],
    ['c1', 'c1', ['c0', 'c1', 'c2']]
  ])('moves %s behind %s, and back', (id, after, expected) => {
    const above = ids()[ids().indexOf(id) - 1] ?? null;
    applyEdit(notebook, edit('move', id, { after }));
    expect(ids()).toEqual(expected);
    const { source } = notebook.cells.find(cell => cell.id === id)!;
    revertChange(notebook, change(id, source, source, { moved: true, above }));
    expect(ids()).toEqual(['c0', 'c1', 'c2']);
  });

  it('deletes, and brings the cell back with its id where it was', () => {
    const known = applyEdit(notebook, edit('delete', 'c1', { expected: 'two' }));
    expect(known).toMatchObject({ id: 'c1', source: 'two', outputs: [] });
    expect(sources()).toEqual(['one', 'three']);
    revertChange(notebook, change('c1', 'two', null, { above: 'c0' }));
    expect(ids()).toEqual(['c0', 'c1', 'c2']);
    expect(sources()).toEqual(['one', 'two', 'three']);
  });

  it('changes source and type, and goes back', () => {
    applyEdit(
      notebook,
      edit('edit', 'c1', { expected: 'two', source: '# 2', cell_type: 'markdown' })
    );
    expect(notebook.cells[1]).toMatchObject({ id: 'c1', cell_type: 'markdown', source: '# 2' });
    revertChange(
      notebook,
      change('c1', 'two', '# 2', { after: { cell_type: 'markdown', source: '# 2' } })
    );
    expect(notebook.cells[1]).toMatchObject({ id: 'c1', cell_type: 'code', source: 'two' });
  });

  it('refuses what is not any more as expected, and tells what is there', () => {
    spliceSource(notebook.cells[1]!, 'two typed');
    for (const kind of ['edit', 'delete'] as const) {
      expect(() => applyEdit(notebook, edit(kind, 'c1', { expected: 'two' }))).toThrow(
        expect.objectContaining({
          code: 'stale_cell',
          facts: { cell: { id: 'c1', cell_type: 'code', source: 'two typed' } }
        }) as Refusal
      );
    }
    expect(sources()).toEqual(['one', 'two typed', 'three']);
  });

  it('refuses cells that are not there, as target or as neighbour', () => {
    expect(() => applyEdit(notebook, edit('edit', 'zz'))).toThrow('no_such_cell');
    expect(() => applyEdit(notebook, edit('insert', 'new', { after: 'zz' }))).toThrow(
      'no_such_cell'
    );
    expect(() => applyEdit(notebook, edit('move', 'c0', { after: 'zz' }))).toThrow('no_such_cell');
    expect(ids()).toEqual(['c0', 'c1', 'c2']);
  });

  it('shows other outputs in place of those that are there, and leaves the cell', () => {
    const stream = (text: string) => ({ output_type: 'stream', name: 'stdout', text });
    const code = asCode(notebook.cells[1]!)!;
    code.setOutputs([stream('key'), stream('more')] as never);
    const { outputs } = { outputs: [stream('•••')] } as never as Pick<Edit, 'outputs'>;
    applyEdit(notebook, edit('outputs', 'c1', { expected: 'two', outputs: outputs! }));
    expect(JSON.stringify(code.getOutputs())).not.toContain('key');
    expect(sources()).toEqual(['one', 'two', 'three']);
    expect(() => applyEdit(notebook, edit('outputs', 'c1', { expected: 'typed' }))).toThrow(
      'stale_cell'
    );
  });

  it('is one step to undo, not joined with what was typed a moment before', () => {
    const cell = notebook.cells[0]!;
    spliceSource(cell, 'one typed');
    applyEdit(notebook, edit('edit', 'c0', { source: 'a\none typed\nb' }));
    spliceSource(cell, 'a\none typed\nb and more');
    cell.undo();
    expect(cell.source).toBe('a\none typed\nb');
    cell.undo();
    expect(cell.source).toBe('one typed');
    cell.undo();
    expect(cell.source).toBe('one');
  });

  it('replaces no more than what differs', () => {
    const cell = notebook.cells[0]!;
    const deltas: unknown[] = [];
    cell.changed.connect((_, change) =>
      deltas.push((change as { sourceChange?: unknown }).sourceChange)
    );
    spliceSource(cell, 'ore');
    expect(deltas).toEqual([[{ retain: 1 }, { insert: 'r' }, { delete: 1 }]]);
    spliceSource(cell, 'ore');
    expect(deltas).toHaveLength(1);
    spliceSource(cell, 'oreore');
    expect(cell.source).toBe('oreore');
  });
});
