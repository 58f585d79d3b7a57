import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { act } from 'preact/test-utils';
import { describe, expect, it, vi } from 'vitest';

import { Mentions, type MentionPlace } from '../../../src/shared/mentions/Mentions';
import { FakeServer } from '../../runs';
import { appears, click, draw, one } from '../../screen';

const OFFERS = [
  { text: '@sales.region', kind: 'column', title: 'object · 3 values' },
  { text: '@data/', kind: 'folder', title: 'folder' }
];

interface Shown {
  screen: HTMLElement;
  server: FakeServer;
  field: HTMLTextAreaElement;
  sent: () => void;
}

function OutputSpeed({
  server,
  place,
  sent
}: Omit<Shown, 'screen' | 'field'> & { place: MentionPlace }): VNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState('');
  return (
    <div>
      <textarea
        ref={field}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={event => event.key === 'Enter' && sent()}
      />
      <Mentions channel={server} place={place} field={field} text={text} />
    </div>
  );
}

function show(place: MentionPlace = { context: 'c1', role: 'planner' }): Shown {
  const server = new FakeServer();
  const answer = { items: OFFERS, next: null };
  for (const q of ['%40re', '%40', '%40data%2F']) {
    server.answers.set(`GET context/c1/mentions?q=${q}&role=planner`, answer);
    server.answers.set(`GET mentions?q=${q}&notebook=a.ipynb`, answer);
  }
  const sent = vi.fn();
  const screen = draw(<OutputSpeed server={server} place={place} sent={sent} />);
  return { screen, server, sent, field: one<HTMLTextAreaElement>(screen, 'textarea') };
}

async function type(field: HTMLTextAreaElement, text: string): Promise<void> {
  await act(async () => {
    field.focus();
    field.value = text;
    field.setSelectionRange(text.length, text.length);
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise(resolve => setTimeout(resolve, 0));
  });
}

async function press(field: HTMLTextAreaElement, key: string): Promise<KeyboardEvent> {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
  await act(async () => {
    field.dispatchEvent(event);
    await new Promise(resolve => setTimeout(resolve, 0));
  });
  return event;
}

const options = (screen: HTMLElement): string[] =>
  [...screen.querySelectorAll('[role=option]')].map(({ textContent }) => textContent ?? '');

describe('completing mentions', () => {
  it('offers what fits, and says so to screen readers', async () => {
    const { screen, field } = show();
    await type(field, 'plot @re');
    expect(options(screen)).toEqual(['@sales.region object · 3 values', '@data/ folder']);
    const list = one(screen, '[role=listbox]');
    expect(field.getAttribute('aria-controls')).toBe(list.id);
    expect(field.getAttribute('aria-activedescendant')).toBe(one(list, '[aria-selected=true]').id);
    expect(one(screen, '[role=status]').textContent).toBe('2 suggestions');
  });

  it('takes one with Enter or Tab, and does not send', async () => {
    for (const key of ['Enter', 'Tab']) {
      const { screen, field, sent } = show();
      await type(field, 'plot @re');
      expect((await press(field, key)).defaultPrevented).toBe(true);
      expect(field.value).toBe('plot @sales.region ');
      expect(options(screen)).toEqual([]);
      expect(sent).not.toHaveBeenCalled();
      await press(field, 'Enter');
      expect(sent).toHaveBeenCalledOnce();
    }
  });

  it('moves with the arrows, and goes on into a folder', async () => {
    const { screen, field } = show();
    await type(field, '@');
    await press(field, 'ArrowUp');
    expect(one(screen, '[aria-selected=true]').textContent).toContain('@data/');
    await press(field, 'ArrowDown');
    expect(one(screen, '[aria-selected=true]').textContent).toContain('@sales.region');
    await press(field, 'ArrowDown');
    await press(field, 'Enter');
    expect(field.value).toBe('@data/');
    expect(options(screen)).toHaveLength(2);
  });

  it('closes with Escape, and then leaves the keys alone', async () => {
    const { screen, field, sent } = show();
    await type(field, '@re');
    await press(field, 'Escape');
    expect(options(screen)).toEqual([]);
    expect(field.hasAttribute('aria-controls')).toBe(false);
    await press(field, 'Enter');
    expect(sent).toHaveBeenCalledOnce();
  });

  it('takes what is clicked', async () => {
    const { screen, field } = show();
    await type(field, '@re');
    await click(one(screen, '[role=option]'));
    expect(field.value).toBe('@sales.region ');
  });

  it('works where there is no conversation yet', async () => {
    const { screen, field } = show({ notebook: 'a.ipynb' });
    await type(field, '@re');
    expect(options(screen)).toHaveLength(2);
  });
});

describe('what a draft points at', () => {
  it('stands below as chips with its tokens, or why it is not given', async () => {
    const { screen, server, field } = show();
    const mention = { kind: 'column', title: 'object · 3 values', tokens: 40, problem: '' };
    server.answers.set('POST context/c1/mentions', {
      items: [
        { ...mention, text: '@sales.region' },
        { ...mention, text: '@.env', tokens: 0, problem: 'This role cannot read it.' }
      ],
      next: null
    });
    await type(field, 'plot @sales.region and @.env');
    await appears(screen, '.cw-mention');
    const chips = [...screen.querySelectorAll('.cw-mention')].map(one => one.textContent);
    expect(chips).toEqual(['@sales.region · 40 tokens', '@.env · This role cannot read it.']);
    expect(server.changes.at(-1)?.body).toEqual({
      content: 'plot @sales.region and @.env',
      role: 'planner'
    });
    await type(field, 'plot');
    expect(screen.querySelector('.cw-mention')).toBeNull();
  });
});
