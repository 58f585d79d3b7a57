import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';

import { comments } from '../../../../src/lab/parts/comments';
import { asMessage, commented } from '../../../../src/lab/parts/comments/targets';
import { Diff } from '../../../../src/shared/ui/Diff';
import { HostProvider } from '../../../../src/shared/card/host';
import { RunCard } from '../../../../src/shared/run/RunCard';
import { FakeServer, plan, planned, settled } from '../../../runs';
import { appears, button, click, draw, one } from '../../../screen';

const DIFF = `--- a/analysis.py
+++ b/analysis.py
@@ -3,3 +3,4 @@
 import pandas
-df = read()
+df = read("a.csv")
+df = df.dropna()
 df.head()
`;

function select(from: Element, to: Element): void {
  const range = document.createRange();
  range.setStartBefore(from);
  range.setEndAfter(to);
  const selection = document.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}

describe('the place of a comment', () => {
  it('is the selected lines of a diff, by their numbers in the file', () => {
    const screen = draw(<Diff text={DIFF} label="Changes in analysis.py" />);
    const diff = one(screen, '.cw-diff');
    select(diff.children[5] as Element, diff.children[6] as Element);
    const place = commented(diff);
    expect(place.words).toBe('In the diff of analysis.py, lines 4–5');
    expect(place.quote).toBe('+df = read("a.csv")\n+df = df.dropna()');
    document.getSelection()?.removeAllRanges();
    expect(commented(diff).words).toBe('In the diff of analysis.py');
    expect(asMessage([{ ...place, text: 'Why drop?' }])).toBe(
      'In the diff of analysis.py, lines 4–5:\n' +
        '> +df = read("a.csv")\n> +df = df.dropna()\nWhy drop?'
    );
  });
});

async function show(server: FakeServer, allows = true): Promise<HTMLElement> {
  const card = server.card;
  if (card === null) {
    throw new Error('There is no card.');
  }
  const screen = draw(
    <HostProvider value={{ ...comments.card, allows: () => allows }}>
      <RunCard card={card} channel={server} />
    </HostProvider>
  );
  await act(settled);
  return screen;
}

async function focus(element: HTMLElement): Promise<void> {
  await act(async () => {
    element.focus();
    element.dispatchEvent(new FocusEvent('focusin', { bubbles: true }));
    await settled();
  });
}

async function comment(screen: HTMLElement, step: number, text: string): Promise<void> {
  const row = screen.querySelectorAll<HTMLElement>('.cw-step')[step - 1] as HTMLElement;
  await focus(row);
  await appears(screen, '.cw-comment-here');
  await act(async () => {
    row.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }));
    await settled();
  });
  const field = one<HTMLTextAreaElement>(screen, '.cw-comments textarea');
  await act(async () => {
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await settled();
  });
  await click(button(screen, 'Add comment'));
}

describe('comments on a card', () => {
  it('go to the agent as one message, each with its place', async () => {
    const server = new FakeServer(planned({ plan: plan(3), revision: 1 }));
    server.answers.set('POST context/c1/messages', { message_id: 'm9', job_id: 'j9' });
    const screen = await show(server);
    await comment(screen, 1, 'Use the other file');
    await comment(screen, 2, 'Not needed');
    expect(one(screen, '.cw-comments').textContent).toContain('2 comments');
    const actions = [...screen.querySelectorAll('.cw-step-action')].map(one => one.textContent);
    await click(button(one(screen, '.cw-comments'), 'Send'));
    expect(server.changes.at(-1)).toMatchObject({
      path: 'context/c1/messages',
      body: {
        content:
          `In step 1 “${actions[0]}”: Use the other file\n\n` +
          `In step 2 “${actions[1]}”: Not needed`
      }
    });
    expect(screen.querySelector('.cw-comments')).toBeNull();
  });

  it('stay when the card is drawn anew, and go when they are discarded', async () => {
    const server = new FakeServer(planned({ plan: plan(2), revision: 1 }));
    const screen = await show(server);
    await comment(screen, 1, 'Use the other file');
    const again = await show(server);
    await focus(again.querySelector<HTMLElement>('.cw-step') as HTMLElement);
    await appears(again, '.cw-comments');
    await click(button(one(again, '.cw-comments'), 'Discard'));
    expect(again.querySelector('.cw-comments')).toBeNull();
  });

  it('are not offered to who does not want them', async () => {
    const server = new FakeServer(planned({ plan: plan(2), revision: 1 }));
    const screen = await show(server, false);
    await focus(screen.querySelector<HTMLElement>('.cw-step') as HTMLElement);
    await act(settled);
    expect(screen.querySelector('.cw-comment-here')).toBeNull();
  });
});
