import { useEffect, useRef, useState } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import type { Health } from '../types';

export type Check =
  | { state: 'idle' }
  | { state: 'busy' }
  | { state: 'answered'; health: Health }
  | { state: 'failed'; error: unknown };

/** Requests `GET health` on demand; ignores answers that arrive after unmounting. */
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
    const result = await fetchHealth(channel);
    if (mounted.current) {
      setCheck(result);
    }
  }
  return [check, run];
}

/** The saved state until the present one is known; a saved notebook may be old. */
export function usePresentHealth(channel: Channel, saved: Health): Health {
  const [present, setPresent] = useState<Health | null>(null);
  useEffect(() => {
    setPresent(null);
    channel.request<Health>('GET', 'health').then(setPresent, () => undefined);
  }, [channel, saved]);
  return present ?? saved;
}

export async function fetchHealth(
  channel: Channel
): Promise<Extract<Check, { state: 'answered' | 'failed' }>> {
  try {
    return { state: 'answered', health: await channel.request<Health>('GET', 'health?fresh=true') };
  } catch (error) {
    return { state: 'failed', error };
  }
}
