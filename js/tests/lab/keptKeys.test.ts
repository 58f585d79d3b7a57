import { afterEach, describe, expect, it, vi } from 'vitest';

import { keepKeys } from '../../src/lab/keptKeys';

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
  keepKeys(cell.firstElementChild as HTMLElement);
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
