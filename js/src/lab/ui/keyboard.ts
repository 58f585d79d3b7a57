const SUPPRESS = 'data-lm-suppress-shortcuts';

/**
 * Keeps keys pressed in a card from Lab, which would take D twice on a button for deleting the
 * cell. Lab looks at the focused element first, so that element itself must carry the attribute.
 * Escape returns to the notebook. After a click, Lab's keys keep working as next to any output,
 * since only the mouse put the focus there.
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
 * Cards suppress Lab's shortcuts. Keys with Ctrl or Cmd may still be meant for Lab as a whole, such
 * as saving: dispatch them again on the body, where no notebook command matches.
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
