/** Draws components into the page and acts on them as a user would. */

import { render, type VNode } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, expect, vi } from 'vitest';

import type { Channel, Method } from '../src/shared/channel/channel';

const drawn: HTMLElement[] = [];

afterEach(() => {
  for (const place of drawn.splice(0)) {
    render(null, place);
    place.remove();
  }
});

export function draw(view: VNode): HTMLElement {
  const place = document.createElement('div');
  document.body.append(place);
  drawn.push(place);
  void act(() => render(view, place));
  return place;
}

export function one<E extends HTMLElement = HTMLElement>(place: ParentNode, selector: string): E {
  const found = place.querySelector<E>(selector);
  if (found === null) {
    throw new Error(`Nothing on the screen matches ${selector}`);
  }
  return found;
}

export function button(place: ParentNode, text: string): HTMLButtonElement {
  const found = [...place.querySelectorAll('button')].find(candidate =>
    candidate.textContent?.includes(text)
  );
  if (found === undefined) {
    throw new Error(`No button says "${text}"`);
  }
  return found;
}

/** Milliseconds after which a test calls it hanging; half of what Vitest gives it. */
export const PATIENCE = 30_000;

/** Clicks, and waits until everything that follows from it is on the screen. */
export async function click(element: HTMLElement): Promise<void> {
  await act(async () => {
    element.click();
    await new Promise(resolve => setTimeout(resolve, 0));
  });
}

/** Waits for what is fetched when it is first needed. */
export async function appears<E extends HTMLElement = HTMLElement>(
  place: ParentNode,
  selector: string
): Promise<E> {
  await vi.waitFor(
    () => act(async () => expect(place.querySelector(selector)).not.toBeNull()),
    PATIENCE
  );
  return one<E>(place, selector);
}

/** A channel whose answers the test gives when it likes. */
export class ManualChannel implements Channel {
  readonly asked: [Method, string][] = [];
  private waiting: { resolve: (answer: unknown) => void; reject: (error: unknown) => void }[] = [];

  request<Answer>(method: Method, path: string): Promise<Answer> {
    this.asked.push([method, path]);
    return new Promise<Answer>((resolve, reject) => {
      this.waiting.push({ resolve: resolve as (answer: unknown) => void, reject });
    });
  }

  subscribe(): () => void {
    return () => undefined;
  }

  async answer(body: unknown): Promise<void> {
    await act(async () => {
      this.waiting.shift()?.resolve(body);
      await Promise.resolve();
    });
  }

  async fail(error: unknown): Promise<void> {
    await act(async () => {
      this.waiting.shift()?.reject(error);
      await Promise.resolve();
    });
  }
}
