import { describe, expect, it } from 'vitest';

import { cellAbove, standing, type CellChange } from '../../../src/lab/notebook/cellChanges';
import type { SharedNotebook } from '../../../src/lab/notebook/edits';

function notebook(cells: Record<string, string>): SharedNotebook {
  const found = Object.entries(cells).map(([id, source]) => ({ id, source, cell_type: 'code' }));
  return { cells: found } as unknown as SharedNotebook;
}

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

const kinds = (changes: CellChange[], cells: Record<string, string>): unknown[] =>
  standing(changes, notebook(cells)).map(({ kind, at, isEdited }) => [kind, at, isEdited]);

describe('how a change stands in a document', () => {
  it('is marked where the document has it', () => {
    expect(kinds([change('a', '1', '2')], { a: '2' })).toEqual([['changed', 'a', false]]);
    expect(kinds([change('a', null, '2')], { a: '2' })).toEqual([['added', 'a', false]]);
  });

  it('says so where the user has gone on writing', () => {
    expect(kinds([change('a', '1', '2')], { a: '2 + 2' })).toEqual([['changed', 'a', true]]);
    expect(kinds([change('a', null, '2')], { a: '' })).toEqual([['added', 'a', true]]);
  });

  it('is not marked where it was undone, or has not come yet', () => {
    expect(kinds([change('a', '1', '2')], { a: '1' })).toEqual([]);
    expect(kinds([change('a', '1', '2')], { b: '2' })).toEqual([]);
    expect(kinds([change('a', null, '2')], { b: '2' })).toEqual([]);
    expect(kinds([change('a', '1', null)], { a: '1' })).toEqual([]);
  });

  it('is marked at the cell above where a cell was deleted, however many were', () => {
    const both = [change('c', '3', null, { above: 'b' }), change('b', '2', null, { above: 'a' })];
    expect(kinds(both, { a: '1', d: '4' })).toEqual([
      ['deleted', 'a', false],
      ['deleted', 'a', false]
    ]);
    expect(cellAbove(both, notebook({ a: '1' }), both[0]!)).toBe('a');
    expect(kinds([change('a', '1', null)], { b: '2' })).toEqual([['deleted', 'b', false]]);
    expect(kinds([change('a', '1', null)], {})).toEqual([]);
  });

  it('is marked where a cell was moved, until it is back', () => {
    const moved = change('b', '2', '2', { moved: true, above: 'a' });
    expect(kinds([moved], { b: '2', a: '1' })).toEqual([['moved', 'b', false]]);
    expect(kinds([moved], { a: '1', b: '2' })).toEqual([]);
  });
});
