import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { duration } from '../text/format';
import { Fold } from '../ui/Fold';
import { Icon } from '../ui/icons';
import type { Reproduction } from '../types';
import { counted, t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';
import { useRun } from './context';
import { reproductionOf } from './parse';
import type { RunState } from './state';

export interface Check {
  /** The notebook that can be checked; null if there is none or nothing can run it. */
  notebook: string | null;
  running: Reproduction | null;
}

const NONE: Check = { notebook: null, running: null };

/** State of the notebook check; reloaded whenever an event concerns it. */
export function useCheck(state: RunState): Check {
  const { actions } = useRun();
  const [check, setCheck] = useState(NONE);
  useEffect(() => {
    let wanted = true;
    actions.reproduction().then(
      ({ notebook, reproduction }) =>
        wanted && setCheck({ notebook, running: reproduction && reproductionOf(reproduction) }),
      () => wanted && setCheck(NONE)
    );
    return () => {
      wanted = false;
    };
  }, [actions, state.checks]);
  return check;
}

/** Running code needs a second click, after saying what will happen. */
export function OfferCheck({
  notebook,
  onClose
}: {
  notebook: string;
  onClose: () => void;
}): VNode {
  const { actions } = useRun();
  const starting = useAction();
  const start = (): void =>
    void starting.run(() => actions.runNotebook()).then(ok => ok && onClose());
  return (
    <section class="cw-sub" aria-label={t('Check the notebook')}>
      <p>
        {t(
          'All code cells of %1 run from top to bottom in a second kernel.',
          oneLine(notebook, 200)
        )}
      </p>
      <p class="cw-dim">
        {t(
          'Your kernel and notebook stay as they are. Changes to workspace files can be rolled ' +
            'back; others cannot.'
        )}
      </p>
      <div class="cw-bar">
        <Button look="primary" busy={starting.busy} onClick={start}>
          {t('Run all cells')}
        </Button>
        <Button onClick={onClose}>{t('Close')}</Button>
      </div>
      <Failure error={starting.error} />
    </section>
  );
}

export function CheckProgress({ check, jobId }: { check: Reproduction; jobId: string }): VNode {
  const { actions } = useRun();
  const stopping = useAction();
  const at = Math.min(check.ran + 1, check.cells);
  return (
    <div class="cw-bar" role="status">
      <span class="cw-working">
        <span class="cw-spinner" aria-hidden="true" />
        {t(
          'Running cell %1 of %2 of %3 in a second kernel…',
          String(at),
          String(check.cells),
          oneLine(check.notebook, 100)
        )}
      </span>
      <Button
        icon="stop"
        busy={stopping.busy}
        onClick={() => void stopping.run(() => actions.cancel(jobId))}
      >
        {t('Stop the check')}
      </Button>
      <Failure error={stopping.error} />
    </div>
  );
}

export function CheckResult({ check }: { check: Reproduction }): VNode {
  return (
    <div class="cw-checked">
      <p class={`cw-line cw-colour-${check.runs ? 'ok' : 'error'}`}>
        <Icon name={check.runs ? 'check' : 'cross'} />
        <span>{visible(bounded(verdict(check), 2000))}</span>
      </p>
      {check.left_out > 0 && (
        <p class="cw-dim">
          {counted(
            check.left_out,
            '%1 cell for the agent was skipped.',
            '%1 cells for the agent were skipped.'
          )}
        </p>
      )}
      {check.hidden.length > 0 && (
        <Fold
          summary={counted(
            check.hidden.length,
            '%1 sign of hidden state',
            '%1 signs of hidden state'
          )}
          open={!check.runs}
        >
          {() => (
            <ul class="cw-hidden-state">
              {check.hidden.map(({ cell, message }, at) => (
                <li key={at}>{t('Cell %1: %2', String(cell), oneLine(message, 300))}</li>
              ))}
            </ul>
          )}
        </Fold>
      )}
    </div>
  );
}

function verdict({ runs, failed, notebook, cells, seconds }: Reproduction): string {
  if (runs) {
    const size = counted(cells, '%1 code cell', '%1 code cells');
    return t('%1 runs from top to bottom: %2 in %3.', notebook, size, duration(seconds));
  }
  const where = failed?.line
    ? t('cell %1, line %2', String(failed.cell), String(failed.line))
    : t('cell %1', String(failed?.cell ?? '?'));
  return t('%1 does not run from top to bottom: %2: %3', notebook, where, failed?.error ?? '');
}
