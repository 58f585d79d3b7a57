import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useAction } from '../action';
import { Button, Failure } from '../Button';
import type { Rollback, Skipped } from '../protocol';
import { useRun } from '../run/context';
import { t } from '../translate';
import { oneLine } from '../visible';
import { isNothing, WhatHappens } from './WhatHappens';

const MOST_CHOICES = 100;

interface PreviewProps {
  checkpoint: string;
  onDone: (result: Rollback) => void;
  onClose: () => void;
}

/** What rolling back to one checkpoint would do, with a choice about what would stay, and the button that does it. */
export function Preview({ checkpoint, onDone, onClose }: PreviewProps): VNode {
  const { actions } = useRun();
  const working = useAction();
  const [overwrite, setOverwrite] = useState<readonly string[]>([]);
  const { result, choices, busy, error } = useDryRun(checkpoint, overwrite);
  const rollBack = (): void => {
    void working.run(async () => onDone(await actions.rollback(checkpoint, false, overwrite)));
  };
  const rest = result && { ...result, skipped: result.skipped.filter(one => !one.can_overwrite) };
  const isAllChoice = rest !== null && isNothing(rest) && rest.skipped.length === 0 && choices.length > 0;
  return (
    <>
      <div aria-live="polite">
        {busy && <p class="cw-dim">{t('Looking what would change…')}</p>}
        {rest && !isAllChoice && <WhatHappens result={rest} isPreview />}
      </div>
      {choices.length > 0 && <Choices choices={choices} chosen={overwrite} onChoose={setOverwrite} />}
      <Failure error={error ?? working.error} />
      <div class="cw-bar">
        {result && (
          <Button look="danger" icon="undo" busy={busy || working.busy} disabled={isNothing(result)} onClick={rollBack}>
            {t('Roll back now')}
          </Button>
        )}
        <Button onClick={onClose}>{t('Close')}</Button>
      </div>
    </>
  );
}

interface DryRun {
  /** The newest there was. */
  result: Rollback | null;
  /** All that would stay unless chosen; what was chosen stays in it, or it could not be taken back. */
  choices: readonly Skipped[];
  busy: boolean;
  error: unknown;
}

/** Asks again whenever the user chooses otherwise; a late answer to an old question is dropped. */
function useDryRun(checkpoint: string, overwrite: readonly string[]): DryRun {
  const { actions } = useRun();
  const [state, setState] = useState<DryRun>({ result: null, choices: [], busy: true, error: null });
  useEffect(() => {
    let isNewest = true;
    setState(before => ({ ...before, busy: true, error: null }));
    actions.rollback(checkpoint, true, overwrite).then(
      result => isNewest && setState(({ choices }) => ({ result, choices: together(choices, result.skipped), busy: false, error: null })),
      (error: unknown) => isNewest && setState(before => ({ ...before, busy: false, error }))
    );
    return () => {
      isNewest = false;
    };
  }, [checkpoint, overwrite]);
  return state;
}

function together(known: readonly Skipped[], skipped: readonly Skipped[]): Skipped[] {
  const paths = new Set(known.map(({ path }) => path));
  return [...known, ...skipped.filter(one => one.can_overwrite && !paths.has(one.path))];
}

interface ChoicesProps {
  choices: readonly Skipped[];
  chosen: readonly string[];
  onChoose: (paths: readonly string[]) => void;
}

/** The user's own changes, and others': each stays unless it is ticked. */
function Choices({ choices, chosen, onChoose }: ChoicesProps): VNode {
  const toggle = (path: string): void => onChoose(chosen.includes(path) ? chosen.filter(one => one !== path) : [...chosen, path]);
  const isAll = chosen.length === choices.length;
  return (
    <fieldset class="cw-rollback-choices">
      <legend class="cw-ink cw-title cw-colour-ask">{t('Would stay as it is, unless you choose otherwise')}</legend>
      {choices.length > 1 && (
        <Button look="link" onClick={() => onChoose(isAll ? [] : choices.map(({ path }) => path))}>
          {isAll ? t('Choose none') : t('Choose all %1', String(choices.length))}
        </Button>
      )}
      <ul class="cw-paths">
        {choices.slice(0, MOST_CHOICES).map(({ path, why }) => (
          <li key={path}>
            <span>{oneLine(`${path}: ${why}`, 400)}</span>
            <label class="cw-check">
              <input
                type="checkbox"
                aria-label={t('Roll back anyway: %1', oneLine(path, 300))}
                checked={chosen.includes(path)}
                onChange={() => toggle(path)}
              />
              <span>{t('Roll back anyway')}</span>
            </label>
          </li>
        ))}
        {choices.length > MOST_CHOICES && <li>{t('… and %1 more', String(choices.length - MOST_CHOICES))}</li>}
      </ul>
      <p class="cw-dim">{t('What is there now is kept with the rollback: undoing it brings it back.')}</p>
    </fieldset>
  );
}
