import { describe, expect, it } from 'vitest';

import { changedLines, diffRows, growingRows, type Row } from '../../../src/lab/notebook/wordDiff';

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

describe('a text that is still being written', () => {
  const kinds = (before: string, soFar: string): string[] =>
    growingRows(before, soFar).map(
      ({ kind, pieces }) => `${kind} ${pieces.map(({ text }) => text).join('')}`
    );

  it('has not removed what it has not come to', () => {
    expect(kinds('a\nb\nc\nd', 'a')).toEqual(['same a', 'same b', 'same c', 'same d']);
    expect(kinds('a\nb\nc\nd', 'a\nB')).toEqual([
      'same a',
      'removed b',
      'added B',
      'same c',
      'same d'
    ]);
    expect(kinds('a\nb\nc\nd', 'a\nc')).toEqual(['same a', 'removed b', 'same c', 'same d']);
  });
});
