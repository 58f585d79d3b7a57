import { describe, expect, it } from 'vitest';

import { splitAnswer } from '../../../src/lab/notebook/splitAnswer';

interface Part {
  question: number;
  part: string;
  last: boolean;
}

describe('an answer', () => {
  it('travels in parts that make it up again, the last one marked', () => {
    const answer = { ok: true as const, source: 'x'.repeat(1_200_000) };
    const parts = splitAnswer(7, answer) as Part[];
    expect(parts.map(({ question, last }) => [question, last])).toEqual([
      [7, false],
      [7, false],
      [7, true]
    ]);
    expect(JSON.parse(parts.map(({ part }) => part).join(''))).toEqual(answer);
  });

  it('has no character cut in two, as halves cannot be encoded', () => {
    for (const before of ['', 'x']) {
      const parts = splitAnswer(1, {
        ok: true,
        ...{ source: before + '😀'.repeat(600_000) }
      }) as Part[];
      expect(parts.length).toBeGreaterThan(2);
      expect(parts.map(({ part }) => encodeURIComponent(part)).join('')).toContain('%F0%9F%98%80');
    }
  });
});
