import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { clock, duration, secondsBetween } from '../text/format';
import type { WorkTime } from './state';

/** Working time, ticking while something works. Not announced to screen readers. */
export function Clock({
  time: { worked, since },
  isOver = false
}: {
  time: WorkTime;
  isOver?: boolean;
}): VNode {
  const [now, setNow] = useState(() => new Date().toISOString());
  const ticks = !isOver && since !== null;
  useEffect(() => {
    if (!ticks) {
      return;
    }
    const timer = setInterval(() => setNow(new Date().toISOString()), 1000);
    return () => clearInterval(timer);
  }, [ticks]);
  const seconds = worked + Number(ticks && secondsBetween(since, now));
  return (
    <span class="cw-time" role="timer">
      {isOver ? duration(seconds) : clock(seconds)}
    </span>
  );
}
