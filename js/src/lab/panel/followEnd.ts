import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Closer to the end than this counts as being there. */
const NEAR = 40;

export interface FollowedEnd {
  /** Bring the end into view, and keep it there. */
  toEnd(): void;
  /** What is in view stays where it is while things are added above it, until the user scrolls. */
  hold(): void;
}

/**
 * Keeps the end in view while things are added, as long as the user has not scrolled away from it.
 */
export function useFollowedEnd(scroll: RefObject<HTMLElement>): FollowedEnd {
  /**
   * How far the view is from the end, which it keeps; null while the user reads somewhere by
   * themselves.
   */
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
      // Something may have grown before this was heard: only who has moved has left the end.
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
