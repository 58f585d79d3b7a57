import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { clock, duration, secondsBetween } from '../text/format';

/** Elapsed time, ticking while there is no end. Not announced to screen readers. */
export function Clock({ start, end }: { start: string | null; end: string | null }): VNode | null {
  const [now, setNow] = useState(() => new Date().toISOString());
  useEffect(() => {
    if (end !== null) {
      return;
    }
    const timer = setInterval(() => setNow(new Date().toISOString()), 1000);
    return () => clearInterval(timer);
  }, [end]);
  const seconds = secondsBetween(start, end ?? now);
  if (seconds === null) {
    return null;
  }
  return (
    <span class="cw-time" role="timer" aria-live="off">
      {end === null ? clock(seconds) : duration(seconds)}
    </span>
  );
}
