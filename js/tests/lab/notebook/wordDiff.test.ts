import { describe, expect, it } from 'vitest';

import { changedLines, diffRows, type Row } from '../../../src/lab/notebook/wordDiff';

/** One line for each row, with what is new in brackets. */
function shown(rows: readonly Row[]): string[] {
  const signs = { same: ' ', removed: '-', added: '+' };
  return rows.map(
    ({ kind, pieces }) =>
      signs[kind] + pieces.map(({ text, isNew }) => (isNew ? `[${text}]` : text)).join('')
  );
}

describe('what changed between two texts', () => {
  it('names the word in a line that is otherwise the same', () => {
    const before = 'monthly = (\n    sales.groupby("Region")["revenue"].sum()\n)';
    const rows = diffRows(before, before.replace('Region', 'region'));
    expect(shown(rows)).toEqual([
      ' monthly = (',
      '-    sales.groupby("[Region]")["revenue"].sum()',
      '+    sales.groupby("[region]")["revenue"].sum()',
      ' )'
    ]);
    expect(changedLines(rows)).toBe(1);
  });

  it('shows lines whole that have little in common', () => {
    expect(shown(diffRows('import os', 'total = 1'))).toEqual(['-import os', '+total = 1']);
  });

  it('tells lines that came and went from those that stayed', () => {
    const rows = diffRows('a\nb\nc', 'a\nc\nd');
    expect(shown(rows)).toEqual([' a', '-b', ' c', '+d']);
    expect(shown(diffRows('a', 'a'))).toEqual([' a']);
  });

  it.each([
    ['', 'x\ny'],
    ['x\n\n', '\nx'],
    ['π = 3\nüber', 'π = 3.1\nueber'],
    ['a\n'.repeat(2000), 'b\n'.repeat(2000)]
  ])('has both texts in it, whatever they are', (before, after) => {
    const rows = diffRows(before, after);
    const side = (without: Row['kind']): string =>
      rows
        .filter(row => row.kind !== without)
        .map(row => row.pieces.map(piece => piece.text).join(''))
        .join('\n');
    expect(side('added')).toBe(before);
    expect(side('removed')).toBe(after);
  });
});
