import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * A button that is clicked away takes the focus with it, and the keyboard would be back at the top of the page.
 * Then the card itself gets the focus; nothing else ever does.
 */
export function useKeptFocus(root: RefObject<HTMLElement>): void {
  const focused = useRef<Element | null>(null);
  useEffect(() => {
    const node = root.current;
    const take = (event: FocusEvent): void => {
      focused.current = event.target as Element;
    };
    const lose = (event: FocusEvent): void => {
      const lost = event.target as Element;
      queueMicrotask(() => {
        if (lost.isConnected && focused.current === lost) {
          focused.current = null;
        }
      });
    };
    node?.addEventListener('focusin', take);
    node?.addEventListener('focusout', lose);
    return () => {
      node?.removeEventListener('focusin', take);
      node?.removeEventListener('focusout', lose);
    };
  }, []);
  useLayoutEffect(() => {
    if (focused.current !== null && !focused.current.isConnected && document.activeElement === document.body) {
      focused.current = null;
      root.current?.querySelector<HTMLElement>('.cw-card')?.focus({ preventScroll: true });
    }
  });
}
