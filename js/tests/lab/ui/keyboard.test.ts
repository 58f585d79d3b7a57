import { afterEach, describe, expect, it, vi } from 'vitest';

import { captureCardKeys, forwardGlobalKeys } from '../../../src/lab/ui/keyboard';

const SUPPRESS = 'data-lm-suppress-shortcuts';

afterEach(() => {
  vi.restoreAllMocks();
  document.body.replaceChildren();
});

/** A card with a button in a cell; whether the focus shows is what the browser says. */
function place(isVisible: boolean): { button: HTMLElement; cell: HTMLElement } {
  document.body.innerHTML =
    `<div class="jp-Cell" tabindex="0"><div>` +
    `<button></button><input ${SUPPRESS}="true"></div></div>`;
  const cell = document.body.firstElementChild as HTMLElement;
  captureCardKeys(cell.firstElementChild as HTMLElement);
  const button = cell.querySelector('button')!;
  const matches = Element.prototype.matches;
  vi.spyOn(Element.prototype, 'matches').mockImplementation(function (
    this: Element,
    selector: string
  ) {
    return selector === ':focus-visible' ? isVisible : matches.call(this, selector);
  });
  return { button, cell };
}

describe('a card in a notebook', () => {
  it('keeps the keys of who has come there by keyboard, as long as they are there', () => {
    const { button } = place(true);
    button.focus();
    expect(button.hasAttribute(SUPPRESS)).toBe(true);
    button.blur();
    expect(button.hasAttribute(SUPPRESS)).toBe(false);
  });

  it('leaves them to Lab after a click', () => {
    const { button } = place(false);
    button.focus();
    expect(button.hasAttribute(SUPPRESS)).toBe(false);
  });

  it('takes nothing away that was there before', () => {
    const { cell } = place(true);
    const field = cell.querySelector('input')!;
    field.focus();
    field.blur();
    expect(field.hasAttribute(SUPPRESS)).toBe(true);
  });

  it('is left by Escape', () => {
    const { button, cell } = place(true);
    button.focus();
    button.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(document.activeElement).toBe(cell);
  });
});

/** A button in a card, and what Lab hears that is not kept from it. */
function buttonInCard(): { button: HTMLElement; heard: ReturnType<typeof vi.fn> } {
  document.body.innerHTML =
    '<div><div data-lm-suppress-shortcuts="true"><button></button></div></div>';
  const node = document.body.firstElementChild as HTMLElement;
  forwardGlobalKeys(node);
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
    const { button, heard } = buttonInCard();
    const pressed = press(button, { key: 's', ctrlKey: true });
    const [passed] = heard.mock.calls[0] as [KeyboardEvent];
    expect([passed.target, passed.key, passed.ctrlKey]).toEqual([document.body, 's', true]);
    expect(pressed.defaultPrevented).toBe(true);
  });

  it('stay in the card otherwise', () => {
    const { button, heard } = buttonInCard();
    press(button, { key: 'd' });
    const [passed] = heard.mock.calls[0] as [KeyboardEvent];
    expect(passed.target, 'only what was pressed comes by').toBe(button);
  });
});
