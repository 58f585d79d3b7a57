const SUPPRESS = 'data-lm-suppress-shortcuts';

/**
 * Whoever goes through a card by keyboard presses keys for the card: Lab would take D twice on one
 * of its buttons for deleting the cell. Lab looks at what has the focus before it looks around, so
 * that very element must keep it off. Escape leads back to the notebook.
 *
 * After a click Lab's keys go on working as beside any output: the focus is only where the mouse
 * has left it.
 */
export function captureCardKeys(node: HTMLElement): void {
  const kept = new WeakSet<Element>();
  node.addEventListener('focusin', ({ target }) => {
    if (
      target instanceof Element &&
      target.matches(':focus-visible') &&
      !target.hasAttribute(SUPPRESS)
    ) {
      target.setAttribute(SUPPRESS, 'true');
      kept.add(target);
    }
  });
  node.addEventListener('focusout', ({ target }) => {
    if (target instanceof Element && kept.delete(target)) {
      target.removeAttribute(SUPPRESS);
    }
  });
  node.addEventListener('keydown', event => {
    if (event.key === 'Escape' && !event.defaultPrevented) {
      node.closest<HTMLElement>('.jp-Cell')?.focus();
    }
  });
}

/**
 * Cards keep keys from Lab, or the letter D twice would delete their cell. What is pressed with
 * Ctrl or Cmd may still be meant for Lab as a whole, like saving: it is shown to Lab once more as
 * if nothing had the focus, so that no command of a notebook takes it.
 */
export function forwardGlobalKeys(node: HTMLElement): void {
  node.addEventListener('keydown', event => {
    const isKept = (event.target as Element).closest('[data-lm-suppress-shortcuts]') !== null;
    if (!isKept || event.defaultPrevented || !(event.ctrlKey || event.metaKey)) {
      return;
    }
    if (!document.body.dispatchEvent(new KeyboardEvent('keydown', event))) {
      event.preventDefault();
    }
  });
}
