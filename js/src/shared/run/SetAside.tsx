import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { Button, Failure } from '../ui/Button';
import { useAction } from '../ui/useAction';
import { t } from '../text/translate';
import { oneLine } from '../text/visible';
import type { BroughtBack, SetAside } from '../types';
import { useRun } from './context';

const MAX_NAMED = 10;

/** What a command left behind that would have run later, and how to have it back. */
export function SetAsideNote({ left }: { left: SetAside }): VNode {
  const { actions, live } = useRun();
  const [back, setBack] = useState<BroughtBack | null>(null);
  const returning = useAction();
  const { id, paths = [], stuck = [], restored = [], new: made = [] } = left;
  return (
    <div class="cw-before">
      {paths.length > 0 && back === null && (
        <p>{t('Set aside, because programs would run it later: %1', named(paths))}</p>
      )}
      {restored.length > 0 && <p>{t('As it was before the command: %1', named(restored))}</p>}
      {stuck.length > 0 && (
        <p>{t('Could not be moved, and programs may run it: %1', named(stuck))}</p>
      )}
      {made.length > 0 && <p>{t('New, and programs may run it later: %1', named(made))}</p>}
      {id && live && back === null && (
        <Button
          busy={returning.busy}
          onClick={() => void returning.run(async () => setBack(await actions.bringBack(id)))}
        >
          {t('Bring back')}
        </Button>
      )}
      {back && <Returned back={back} />}
      <Failure error={returning.error} />
    </div>
  );
}

function Returned({ back: { restored, skipped } }: { back: BroughtBack }): VNode {
  const left = skipped.map(({ path, why }) => `${path} (${why})`);
  return (
    <div role="status">
      {restored.length + left.length === 0 && <p>{t('It is back already.')}</p>}
      {restored.length > 0 && <p>{t('Back in its place: %1', named(restored))}</p>}
      {left.length > 0 && <p>{t('Still set aside: %1', named(left))}</p>}
    </div>
  );
}

function named(paths: readonly string[]): string {
  const more = paths.length - MAX_NAMED;
  const names = paths.slice(0, MAX_NAMED).map(path => oneLine(path, 200));
  return [...names, ...(more > 0 ? [t('… and %1 more', String(more))] : [])].join(', ');
}
