import { describe, expect, it } from 'vitest';

import { bounded, oneLine, visible } from '../../../src/shared/text/visible';

describe('visible', () => {
  it.each([
    ['the switch that turns a file name around', 'a\u202Egpj.exe', 'a⟨U+202E⟩gpj.exe'],
    ['an isolate', '\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['an escape sequence', '\u001b[2K', '⟨U+001B⟩[2K'],
    ['a backspace', 'rm\b\b', 'rm⟨U+0008⟩⟨U+0008⟩'],
    ['a carriage return that would hide a line', 'safe\rrm', 'safe⟨U+000D⟩rm'],
    ['a space of no width', 'a\u200bb', 'a⟨U+200B⟩b'],
    ['a byte-order mark', '\ufeffa', '⟨U+FEFF⟩a'],
    ['tags outside the basic plane', 'a\u{e0041}', 'a⟨U+E0041⟩'],
    ['a soft hyphen', 'a\u00adb', 'a⟨U+00AD⟩b']
  ])('shows %s', (_what, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('leaves lines, tabs, other scripts and composed emoji alone', () => {
    const text = 'a\tb\nç 日本語 עברית 👩‍💻 👍🏽';
    expect(visible(text)).toBe(text);
  });

  it('takes the line ends of Windows for line ends', () => {
    expect(visible('a\r\nb')).toBe('a\nb');
  });
});

describe('bounded', () => {
  it('cuts what is too long and says so', () => {
    expect(bounded('abcdef', 4)).toBe('abc…');
    expect(bounded('abcd', 4)).toBe('abcd');
  });

  it('never cuts a character in two', () => {
    expect(bounded('ab😀cd', 4)).toBe('ab…');
  });
});

describe('oneLine', () => {
  it('makes one line of many', () => {
    expect(oneLine(' a\n  b\u202Ec ')).toBe('a b⟨U+202E⟩c');
  });

  it('is quick with a text of any length', () => {
    expect(oneLine('x'.repeat(5_000_000), 50)).toHaveLength(50);
  });
});
