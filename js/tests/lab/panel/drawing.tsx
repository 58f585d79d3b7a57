/** Draws parts of the panel with a server that answers from a table. */

import type { VNode } from 'preact';
import { act } from 'preact/test-utils';
import { vi } from 'vitest';

import { PanelProvider, type PanelContext } from '../../../src/lab/panel/context';
import { FakeServer, settled } from '../../runs';
import { click, draw } from '../../screen';
import { FakeActivityFeed } from '../model/fakeActivityFeed';

export interface Drawn {
  screen: HTMLElement;
  server: FakeServer;
  feed: FakeActivityFeed;
  parts: PanelContext;
}

export function handsOn(
  server: FakeServer,
  changes: Partial<PanelContext> = {}
): PanelContext & { feed: FakeActivityFeed } {
  const feed = new FakeActivityFeed();
  return {
    channel: server,
    notebook: 'a.ipynb',
    open: vi.fn(),
    answerer: () => null,
    download: vi.fn(async () => undefined),
    ...changes,
    feed
  };
}

export async function drawIn(
  view: VNode,
  answers: Record<string, unknown>,
  changes: Partial<PanelContext> = {}
): Promise<Drawn> {
  const server = new FakeServer();
  for (const [request, answer] of Object.entries(answers)) {
    server.answers.set(request, answer);
  }
  const parts = handsOn(server, changes);
  const screen = draw(<PanelProvider value={parts}>{view}</PanelProvider>);
  await calm();
  return { screen, server, feed: parts.feed, parts };
}

/** Until what was asked has been answered and drawn, and what was asked because of that as well. */
export async function calm(): Promise<void> {
  await act(settled);
  await act(settled);
}

/** Clicks, and waits for all that comes of it. */
export async function press(element: HTMLElement): Promise<void> {
  await click(element);
  await calm();
}

/** Presses a key on something, and waits for all that comes of it. */
export async function pressKey(element: HTMLElement, key: string): Promise<void> {
  await act(async () => {
    element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  });
  await calm();
}

export async function unfold(details: HTMLDetailsElement): Promise<void> {
  await act(async () => {
    details.open = true;
    details.dispatchEvent(new Event('toggle'));
  });
  await calm();
}

export async function write(
  field: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement,
  text: string
): Promise<void> {
  await act(async () => {
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await calm();
}

export function list(...items: unknown[]): { items: unknown[]; next: null } {
  return { items, next: null };
}
