import { useEffect, useRef, useState } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import type { Health } from '../types';

/** How far a check of the connection has come. */
export type Check =
  | { state: 'idle' }
  | { state: 'busy' }
  | { state: 'answered'; health: Health }
  | { state: 'failed'; error: unknown };

/**
 * Asks `GET health` anew on demand; a component that has gone from the page hears nothing of a late
 * answer.
 */
export function useConnectionCheck(channel: Channel): [Check, () => Promise<void>] {
  const [check, setCheck] = useState<Check>({ state: 'idle' });
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
    };
  }, []);

  async function run(): Promise<void> {
    setCheck({ state: 'busy' });
    const result = await askHealth(channel);
    if (mounted.current) {
      setCheck(result);
    }
  }
  return [check, run];
}

/** The same without a component: Lab's command shows the result as a notification. */
export async function askHealth(
  channel: Channel
): Promise<Extract<Check, { state: 'answered' | 'failed' }>> {
  try {
    return { state: 'answered', health: await channel.request<Health>('GET', 'health?fresh=true') };
  } catch (error) {
    return { state: 'failed', error };
  }
}
