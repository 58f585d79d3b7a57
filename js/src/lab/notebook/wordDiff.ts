/** Diff of two texts by line, and by word within similar lines. */

/** Part of a line; `isNew` if the other side lacks it. */
export interface Piece {
  text: string;
  isNew: boolean;
}

export interface Row {
  kind: 'same' | 'removed' | 'added';
  pieces: readonly Piece[];
}

/** Texts that need more comparisons count as completely different. */
const MAX_COMPARED = 1_000_000;
/** Lines that share less than this are not split into words, which would only confuse. */
const MIN_SIMILARITY = 0.4;
const WORDS = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

/** Lines of both texts in reading order: at each place deletions first, then insertions. */
export function diffRows(before: string, after: string): Row[] {
  const rows: Row[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    rows.push(...placeRows(removed, added));
    removed = [];
    added = [];
  };
  for (const [old, now] of aligned(before.split('\n'), after.split('\n'))) {
    if (old !== null && now !== null) {
      flush();
      rows.push({ kind: 'same', pieces: [{ text: now, isNew: false }] });
    } else if (old !== null) {
      removed.push(old);
    } else {
      added.push(now!);
    }
  }
  flush();
  return rows;
}

/** Diff against a text that is still streaming: lines it has not reached yet count as unchanged. */
export function growingRows(before: string, soFar: string): Row[] {
  const rows = diffRows(before, soFar);
  const end = rows.map(row => row.kind).lastIndexOf('same') + 1;
  const removed = rows.slice(end).filter(row => row.kind === 'removed');
  const added = rows.slice(end).filter(row => row.kind === 'added');
  const staying = removed.slice(added.length).map((row): Row => {
    const text = row.pieces.map(piece => piece.text).join('');
    return { kind: 'same', pieces: [{ text, isNew: false }] };
  });
  return [...rows.slice(0, end), ...removed.slice(0, added.length), ...added, ...staying];
}

/** A rewritten line counts once. */
export function changedLines(rows: readonly Row[]): number {
  const count = (kind: Row['kind']): number => rows.filter(row => row.kind === kind).length;
  return Math.max(count('removed'), count('added'));
}

function placeRows(removed: readonly string[], added: readonly string[]): Row[] {
  const pairs = removed.map((line, at) => (at < added.length ? pieces(line, added[at]!) : null));
  return [
    ...removed.map((line, at): Row => ({
      kind: 'removed',
      pieces: pairs[at]?.[0] ?? [{ text: line, isNew: false }]
    })),
    ...added.map((line, at): Row => ({
      kind: 'added',
      pieces: pairs[at]?.[1] ?? [{ text: line, isNew: false }]
    }))
  ];
}

/** Null if the lines have too little in common. */
function pieces(before: string, after: string): [Piece[], Piece[]] | null {
  const sides: [Piece[], Piece[]] = [[], []];
  let common = 0;
  for (const [old, now] of aligned(before.match(WORDS) ?? [], after.match(WORDS) ?? [])) {
    const isNew = old === null || now === null;
    common += isNew ? 0 : old.trim().length;
    [old, now].forEach((text, side) => {
      if (text !== null) {
        add(sides[side]!, text, isNew);
      }
    });
  }
  const length = Math.max(letters(before), letters(after));
  return common >= length * MIN_SIMILARITY ? sides : null;
}

function add(line: Piece[], text: string, isNew: boolean): void {
  const last = line.at(-1);
  if (last?.isNew === isNew) {
    last.text += text;
  } else {
    line.push({ text, isNew });
  }
}

function letters(line: string): number {
  return line.replace(/\s/g, '').length;
}

/** Longest common subsequence, with the differences in between. */
function aligned(
  before: readonly string[],
  after: readonly string[]
): [string | null, string | null][] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) {
    head++;
  }
  let tail = 0;
  while (
    tail < Math.min(before.length, after.length) - head &&
    before.at(-1 - tail) === after.at(-1 - tail)
  ) {
    tail++;
  }
  const same = (text: string): [string, string] => [text, text];
  return [
    ...before.slice(0, head).map(same),
    ...alignedMiddle(
      before.slice(head, before.length - tail),
      after.slice(head, after.length - tail)
    ),
    ...before.slice(before.length - tail).map(same)
  ];
}

function alignedMiddle(
  before: readonly string[],
  after: readonly string[]
): [string | null, string | null][] {
  if (before.length * after.length > MAX_COMPARED) {
    return [
      ...before.map((text): [string, null] => [text, null]),
      ...after.map((text): [null, string] => [null, text])
    ];
  }
  // lengths[i][j]: length of the longest common subsequence of the suffixes from i and j.
  const lengths = Array.from(
    { length: before.length + 1 },
    () => new Uint32Array(after.length + 1)
  );
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i]![j] =
        before[i] === after[j]
          ? lengths[i + 1]![j + 1]! + 1
          : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  const found: [string | null, string | null][] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      found.push([before[i++]!, after[j++]!]);
    } else if (
      j >= after.length ||
      (i < before.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!)
    ) {
      found.push([before[i++]!, null]);
    } else {
      found.push([null, after[j++]!]);
    }
  }
  return found;
}
