import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Pixels from the end that still count as the end. */
const NEAR = 40;

export interface FollowEnd {
  /** Scrolls to the end, and follows it. */
  toEnd(): void;
  /** Keeps the visible part in place while content is added above, until the user scrolls. */
  hold(): void;
}

/** Follows the end while content is added, unless the user has scrolled away. */
export function useFollowEnd(scroll: RefObject<HTMLElement>): FollowEnd {
  /** Distance to the end that is kept; null while the user reads elsewhere. */
  const kept = useRef<number | null>(0);
  const place = useRef(() => undefined as void);
  useEffect(() => {
    const node = scroll.current;
    if (node === null) {
      return;
    }
    let lastTop = node.scrollTop;
    place.current = () => {
      if (kept.current !== null) {
        node.scrollTop = node.scrollHeight - kept.current;
        lastTop = node.scrollTop;
      }
    };
    const look = (): void => {
      // Content may have grown before the event: only a changed scroll position means that the user
      // left the end.
      const isMoved = Math.abs(node.scrollTop - lastTop) > 1;
      lastTop = node.scrollTop;
      if (node.scrollHeight - node.scrollTop - node.clientHeight < NEAR) {
        kept.current = 0;
      } else if (isMoved) {
        kept.current = null;
      }
    };
    const follow = new ResizeObserver(() => place.current());
    node.addEventListener('scroll', look, { passive: true });
    follow.observe(node);
    for (const child of node.children) {
      follow.observe(child);
    }
    return () => {
      node.removeEventListener('scroll', look);
      follow.disconnect();
    };
  }, [scroll]);
  return {
    toEnd: () => {
      kept.current = 0;
      place.current();
    },
    hold: () => {
      const node = scroll.current;
      kept.current = node && node.scrollHeight - node.scrollTop;
    }
  };
}
