const SUPPRESS = 'data-lm-suppress-shortcuts';

/**
 * Whoever goes through a card by keyboard presses keys for the card: Lab would take D twice on one
 * of its buttons for deleting the cell. Lab looks at what has the focus before it looks around, so
 * that very element must keep it off. Escape leads back to the notebook.
 *
 * After a click Lab's keys go on working as beside any output: the focus is only where the mouse
 * has left it.
 */
export function keepKeys(node: HTMLElement): void {
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
