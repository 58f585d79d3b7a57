import { afterEach, describe, expect, it, vi } from 'vitest';

import { passOnGlobalKeys } from '../../src/lab/globalKeys';

afterEach(() => document.body.replaceChildren());

/** A button in a card, and what Lab hears that is not kept from it. */
function place(): { button: HTMLElement; heard: ReturnType<typeof vi.fn> } {
  document.body.innerHTML =
    '<div><div data-lm-suppress-shortcuts="true"><button></button></div></div>';
  const node = document.body.firstElementChild as HTMLElement;
  passOnGlobalKeys(node);
  const heard = vi.fn((event: Event) => {
    if (event.target === document.body) {
      event.preventDefault();
    }
  });
  document.body.addEventListener('keydown', heard, { once: true });
  return { button: node.querySelector('button')!, heard };
}

function press(target: HTMLElement, init: KeyboardEventInit): KeyboardEvent {
  const event = new KeyboardEvent('keydown', { ...init, bubbles: true, cancelable: true });
  target.dispatchEvent(event);
  return event;
}

describe('keys that are pressed in a card', () => {
  it('are passed on when they are meant for Lab as a whole, and not left to the browser then', () => {
    const { button, heard } = place();
    const pressed = press(button, { key: 's', ctrlKey: true });
    const [passed] = heard.mock.calls[0] as [KeyboardEvent];
    expect([passed.target, passed.key, passed.ctrlKey]).toEqual([document.body, 's', true]);
    expect(pressed.defaultPrevented).toBe(true);
  });

  it('stay in the card otherwise', () => {
    const { button, heard } = place();
    press(button, { key: 'd' });
    const [passed] = heard.mock.calls[0] as [KeyboardEvent];
    expect(passed.target, 'only what was pressed comes by').toBe(button);
  });
});
