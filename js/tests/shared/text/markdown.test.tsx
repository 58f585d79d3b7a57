import { describe, expect, it } from 'vitest';

import { codeSpans } from '../../../src/shared/text/codeSpans';
import { blocks, inline } from '../../../src/shared/text/markdown';
import { endOfBlocks, StreamText } from '../../../src/shared/text/StreamText';
import { draw, one } from '../../screen';
import { render } from 'preact';
import { act } from 'preact/test-utils';

function html(source: string): string {
  return draw(<div>{blocks(source)}</div>).querySelector('div')!.innerHTML;
}

describe('Markdown', () => {
  it.each([
    ['a **b** *c* `d`', '<p>a <strong>b</strong> <em>c</em> <code>d</code></p>'],
    ['# Title', '<p class="cw-md-heading">Title</p>'],
    ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['- a\n  - b', '<ul><li>a<ul><li>b</li></ul></li></ul>'],
    ['> a', '<blockquote><p>a</p></blockquote>'],
    ['a_b_c and 2*3*4', '<p>a_b_c and 2*3*4</p>'],
    [
      '| a | b |\n|---|---|\n| 1 | 2 |',
      '<table><thead><tr><th scope="col">a</th><th ' +
        'scope="col">b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>'
    ]
  ])('%j', (source, expected) => {
    expect(html(source)).toBe(expected);
  });

  it('keeps code as it is, and does not need the closing fence', () => {
    const place = draw(<div>{blocks('```python\nif a < b:\n\n    **no**\n')}</div>);
    expect(one(place, 'pre code').textContent).toBe('if a < b:\n\n    **no**\n');
  });

  it('marks up only code where text is in a button', () => {
    const place = draw(<p>{codeSpans('sum of `qty` in `a.csv`, [b](https://x.org) **c**')}</p>);
    expect(place.querySelector('p')!.innerHTML).toBe(
      'sum of <code>qty</code> in <code>a.csv</code>, [b](https://x.org) **c**'
    );
  });

  it('links only to the web, openly, and to nothing that could run', () => {
    const place = draw(
      <p>{inline('[a](https://x.org) [b](javascript:alert(1)) [c](data:text/html,x)')}</p>
    );
    expect(
      [...place.querySelectorAll('a')].map(link => [link.getAttribute('href'), link.rel])
    ).toEqual([['https://x.org', 'noopener noreferrer']]);
    expect(place.textContent).toContain('[b](javascript:alert(1))');
  });

  it('loads no picture, as its address could tell what was read', () => {
    const place = draw(<p>{inline('![see](https://evil.example/?secret)')}</p>);
    expect(place.querySelector('img')).toBeNull();
    expect(one(place, 'a').textContent).toBe('see');
  });

  it.each(['<script>x</script>', '<img src=x onerror=x>', '<b>a</b>', '&lt;'])(
    'shows %s as text',
    source => {
      const place = draw(<div>{blocks(source)}</div>);
      expect(place.textContent).toBe(source);
      expect(place.querySelector('script, img, b')).toBeNull();
    }
  );

  it.each([
    '`'.repeat(20_000),
    '*a '.repeat(10_000),
    '['.repeat(20_000),
    '> '.repeat(2000),
    '**'.repeat(10_000)
  ])('is not held up by %#', source => {
    expect(blocks(source).length).toBeGreaterThan(0);
  });
});

describe('a text as it streams', () => {
  it.each([
    ['no end yet', 0],
    ['a block\n\nthe next', 9],
    ['```\ncode\n\nmore', 0],
    ['```\ncode\n```\n\nmore', 14],
    ['ends with a line\n', 0]
  ])('%j is settled up to %i', (text, end) => {
    expect(endOfBlocks(text)).toBe(end);
  });

  it('grows at its end only: what is settled is not drawn again', () => {
    const place = document.createElement('div');
    const show = (text: string): void => void act(() => render(<StreamText text={text} />, place));
    show('First **block**\n\nSec');
    const first = one(place, 'strong');
    const tail = one(place, '.cw-tail').firstChild;
    show('First **block**\n\nSecond');
    show('First **block**\n\nSecond and more');
    expect(one(place, 'strong')).toBe(first);
    expect(one(place, '.cw-tail').firstChild).toBe(tail);
    expect(tail?.textContent).toBe('Second and more');
    render(null, place);
  });

  it('keeps the page small: thousands of pieces are one text', () => {
    const place = document.createElement('div');
    let text = '';
    for (let piece = 0; piece < 500; piece += 1) {
      text += 'word ';
      void act(() => render(<StreamText text={text} />, place));
    }
    expect(one(place, '.cw-tail').childNodes).toHaveLength(1);
    expect(place.querySelectorAll('*').length).toBeLessThan(5);
    render(null, place);
  });

  it('starts over when the reply does', () => {
    const place = document.createElement('div');
    const show = (text: string): void => void act(() => render(<StreamText text={text} />, place));
    show('Old block\n\nold');
    show('New');
    expect(place.textContent).toBe('New');
    render(null, place);
  });
});
