import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/**
 * Reads the colours of one rule of tokens.css, with Lab's variables at their usual values (our
 * fall-backs).
 */
function colours(rule: RegExp): Map<string, string> {
  const body = rule.exec(readFileSync('style/tokens.css', 'utf8'))?.[1] ?? '';
  return new Map(
    [...body.matchAll(/(--cw-[\w-]+):\s*([^;]+);/g)].map(match => [match[1] ?? '', match[2] ?? ''])
  );
}

type Rgb = [number, number, number];

function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return a.map((value, i) => value * share + (b[i] ?? 0) * (1 - share)) as Rgb;
}

/** Enough of CSS for what tokens.css writes: hex, black, var with a fall-back, color-mix of two. */
function resolve(value: string, known: Map<string, string>): Rgb {
  const text = value.trim();
  const mixed = /^color-mix\(in srgb, (.+?\)) ?(\d+%)?, (.+)\)$/.exec(text);
  if (mixed) {
    const share = mixed[2] ? Number.parseInt(mixed[2]) / 100 : 0.5;
    return mix(resolve(mixed[1] ?? '', known), resolve(mixed[3] ?? '', known), share);
  }
  const fallback = /^var\(--(?:md|jp)-[\w-]+, (#\w+)\)$/.exec(text)?.[1];
  const own = /^var\((--cw-[\w-]+)\)$/.exec(text)?.[1];
  if (own) {
    return resolve(known.get(own) ?? '', known);
  }
  const hex = text === 'black' ? '#000000' : (fallback ?? text);
  if (!/^#[0-9a-f]{6}$/.test(hex)) {
    throw new Error(`Not a colour this test can read: ${text}`);
  }
  return [1, 3, 5].map(at => Number.parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map(value => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: Rgb, b: Rgb): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const light = colours(/^\.cowork-root \{([^}]*)\}/m);
const dark = new Map([...light, ...colours(/high-contrast-light\) \.cowork-root \{([^}]*)\}/)]);
const NAMES = [
  'ok',
  'ask',
  'error',
  'grey',
  'blue',
  'green',
  'purple',
  'orange',
  'teal',
  'pink',
  'brown'
];

describe.each([
  ['light', light, '#ffffff'],
  ['dark', dark, '#212121']
])('in the %s theme', (_theme, known, ground) => {
  it.each(NAMES)('%s can be read on the page and on its own tint', name => {
    const ink = resolve(known.get(`--cw-${name}`) ?? '', known);
    const page = resolve(ground, known);
    const tint = mix(ink, page, Number.parseInt(known.get('--cw-tint') ?? '') / 100);
    expect(contrast(ink, page)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(ink, tint)).toBeGreaterThanOrEqual(4.5);
  });
});
