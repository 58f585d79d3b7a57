import { act } from 'preact/test-utils';
import { describe, expect, it, vi } from 'vitest';

import { drawnBy, type Draw } from '../../../src/lab/card/HostText';
import { HostProvider, type CardHost } from '../../../src/shared/card/host';
import { RichText } from '../../../src/shared/text/RichText';
import { button, click, draw, one } from '../../screen';

const ANSWER = 'Try this:\n\n```python\nx = 1\nprint(x)\n```\n';

async function show(text: string, host: CardHost): Promise<HTMLElement> {
  const screen = draw(
    <HostProvider value={host}>
      <RichText text={text} />
    </HostProvider>
  );
  await act(() => Promise.resolve());
  return screen;
}

/** Draws as Lab does, in its own elements. */
const draws: Draw = async (source, node) => {
  const pre = document.createElement('pre');
  const code = document.createElement('code');
  code.className = 'cm-s-jupyter language-python';
  code.textContent = `${/```python\n([^]*?)\n```/.exec(source)?.[1] ?? ''}\n`;
  pre.append(code);
  node.append(pre);
};

describe('Code in an answer', () => {
  it.each([
    ['our own drawing', {}],
    ['the host’s', { Markdown: drawnBy(draws) }]
  ])('can be copied and made a cell of, in %s', async (_where, drawing) => {
    const insertCell = vi.fn(async () => undefined);
    const screen = await show(ANSWER, { ...drawing, insertCell });
    expect(screen.querySelectorAll('.cw-snippet-tools')).toHaveLength(1);
    expect(one(screen, '[aria-label="Copy this code"]').textContent).toBe('Copy');
    await click(button(screen, 'Insert as cell'));
    expect(insertCell).toHaveBeenCalledWith('x = 1\nprint(x)');
  });

  it.each([{}, { Markdown: drawnBy(draws) }])(
    'can only be copied where there is no notebook',
    async host => {
      const screen = await show(ANSWER, host);
      expect([...screen.querySelectorAll('button')].map(each => each.textContent)).toEqual([
        'Copy'
      ]);
    }
  );

  it('is no cell if it is no code', async () => {
    const screen = await show('```bash\npip install x\n```', { insertCell: async () => undefined });
    expect(screen.textContent).not.toContain('Insert as cell');
  });
});
