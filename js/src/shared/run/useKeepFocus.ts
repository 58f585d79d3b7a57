import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/**
 * When a focused button disappears, the browser moves focus to the top of the page. Focus the card
 * instead; nothing else.
 */
export function useKeepFocus(root: RefObject<HTMLElement>): void {
  useEffect(() => {
    const node = root.current;
    if (node === null) {
      return;
    }
    let focused: Element | null = null;
    const take = (event: FocusEvent): void => {
      focused = event.target as Element;
    };
    const lose = (event: FocusEvent): void => {
      const lost = event.target as Element;
      queueMicrotask(() => {
        if (lost.isConnected && focused === lost) {
          focused = null;
        }
      });
    };
    // Any part of the card may re-render on its own.
    const drawn = new MutationObserver(() => {
      if (focused !== null && !focused.isConnected && document.activeElement === document.body) {
        focused = null;
        node.querySelector<HTMLElement>('.cw-card')?.focus({ preventScroll: true });
      }
    });
    node.addEventListener('focusin', take);
    node.addEventListener('focusout', lose);
    drawn.observe(node, { childList: true, subtree: true });
    return () => {
      node.removeEventListener('focusin', take);
      node.removeEventListener('focusout', lose);
      drawn.disconnect();
    };
  }, [root]);
}
