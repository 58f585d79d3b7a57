import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { Button, Failure } from '../ui/Button';
import { useAction } from '../ui/useAction';
import { t } from '../text/translate';
import { oneLine } from '../text/visible';
import type { BroughtBack, SetAside } from '../types';
import { useRun } from './context';

const MAX_NAMED = 10;

/** What a command made and the sandbox has moved away, and how to have it back. */
export function SetAsideNote({ left: { id, paths = [] } }: { left: SetAside }): VNode | null {
  const { actions, live } = useRun();
  const [back, setBack] = useState<BroughtBack | null>(null);
  const returning = useAction();
  if (!id) {
    return null;
  }
  return (
    <div class="cw-before" role="status">
      {back ? (
        <Returned back={back} />
      ) : (
        t('Set aside, because programs would run it later: %1', named(paths))
      )}
      {live && back === null && (
        <Button
          busy={returning.busy}
          onClick={() => void returning.run(async () => setBack(await actions.bringBack(id)))}
        >
          {t('Bring back')}
        </Button>
      )}
      <Failure error={returning.error} />
    </div>
  );
}

function Returned({ back: { restored, skipped } }: { back: BroughtBack }): VNode {
  const left = skipped.map(({ path, why }) => `${path} (${why})`);
  return (
    <>
      {!left.length && !restored.length && t('It is back already.')}
      {restored.length > 0 && <p>{t('Back in its place: %1', named(restored))}</p>}
      {left.length > 0 && <p>{t('Still set aside: %1', named(left))}</p>}
    </>
  );
}

function named(paths: readonly string[]): string {
  const more = paths.length - MAX_NAMED;
  const names = paths.slice(0, MAX_NAMED).map(path => oneLine(path, 200));
  return [...names, ...(more > 0 ? [t('… and %1 more', String(more))] : [])].join(', ');
}
