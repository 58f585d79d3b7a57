import { describe, expect, it } from 'vitest';

import { mayMention, mentionAt } from '../../../src/shared/mentions/mentionAt';

describe('what is being typed', () => {
  it.each([
    ['plot @reg', '@reg'],
    ['@', '@'],
    ['(@sales.rev', '@sales.rev'],
    ['see @data/sa', '@data/sa'],
    ['see @"my da', '@"my da'],
    ['mean of @sales."unit p', '@sales."unit p'],
    ['why @cell:', '@cell:'],
    ['/rev', '/rev'],
    ['/github:re', '/github:re']
  ])('%s', (text, typed) => {
    expect(mentionAt(text, text.length)).toEqual({
      text: typed,
      start: text.length - typed.length
    });
  });

  it.each(['ann@example', 'plot', '@a b', 'a /rev', ' /rev', '@a,', '@"a b" '])(
    'nothing in %s',
    text => {
      expect(mentionAt(text, text.length)).toBeNull();
    }
  );

  it('is what stands before the cursor', () => {
    expect(mentionAt('@sales by month', 4)).toEqual({ text: '@sal', start: 0 });
  });

  it('knows when there is nothing to look up', () => {
    expect(mayMention('write to ann@example.org @ noon')).toBe(false);
    expect(mayMention('plot @sales')).toBe(true);
  });
});
