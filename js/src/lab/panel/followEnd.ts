import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Closer to the end than this counts as being there. */
const NEAR = 40;

/** Keeps the end in view while things are added there, as long as the user has not scrolled away from it. */
export function useFollowedEnd(scroll: RefObject<HTMLElement>): void {
  useEffect(() => {
    const node = scroll.current;
    if (node === null) {
      return;
    }
    let isAtEnd = true;
    const look = (): void => {
      isAtEnd = node.scrollHeight - node.scrollTop - node.clientHeight < NEAR;
    };
    const follow = new ResizeObserver(() => {
      if (isAtEnd) {
        node.scrollTop = node.scrollHeight;
      }
    });
    node.addEventListener('scroll', look, { passive: true });
    follow.observe(node);
    for (const child of node.children) {
      follow.observe(child);
    }
    return () => {
      node.removeEventListener('scroll', look);
      follow.disconnect();
    };
  }, []);
}
