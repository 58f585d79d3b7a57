import { useEffect, useState } from 'preact/hooks';

import type { Channel } from './channel';

/** What the server answers when the component is mounted; null until then, and if it fails. */
export function useAnswer<Answer>(channel: Channel, path: string): Answer | null {
  const [answer, setAnswer] = useState<Answer | null>(null);
  useEffect(() => {
    let gone = false;
    channel.request<Answer>('GET', path).then(
      one => !gone && setAnswer(one),
      () => undefined
    );
    return () => {
      gone = true;
    };
  }, [channel, path]);
  return answer;
}
