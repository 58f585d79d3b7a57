import type { VNode } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { CoworkError } from '../channel/channel';
import type { Rollback } from '../types';
import { useRun } from '../run/context';
import { t } from '../text/translate';
import { choicesIn, Choices, overwriteRequest, type Choice } from './Choices';
import { isNothing, RollbackSummary } from './RollbackSummary';

interface PreviewProps {
  checkpoint: string;
  onDone: (result: Rollback) => void;
  onClose: () => void;
}

/**
 * Dry run of a rollback to one checkpoint, choices for what would be left alone, and the confirm
 * button.
 */
export function Preview({ checkpoint, onDone, onClose }: PreviewProps): VNode {
  const { actions } = useRun();
  const working = useAction();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { result, choices, busy, error, adopt } = useDryRun(checkpoint, chosen);
  const rollBack = (): void => {
    void working.run(() =>
      actions
        .rollback(checkpoint, {
          dry_run: false,
          ...overwriteRequest(choices, chosen),
          preview: result?.preview
        })
        .then(onDone, (refusal: unknown) => {
          if (refusal instanceof CoworkError && refusal.code === 'preview_changed') {
            adopt((refusal.details as { preview: Rollback }).preview);
          }
          throw refusal;
        })
    );
  };
  const choose = (keys: readonly string[]): void => {
    working.forget();
    setChosen(keys);
  };
  const rest = result && {
    ...result,
    skipped: result.skipped.filter(one => !one.can_overwrite),
    partly: []
  };
  const isAllChoice =
    rest !== null && isNothing(rest) && rest.skipped.length === 0 && choices.length > 0;
  return (
    <>
      <div aria-live="polite">
        {busy && <p class="cw-dim">{t('Checking what would change…')}</p>}
        {rest && !isAllChoice && <RollbackSummary result={rest} isPreview />}
      </div>
      {choices.length > 0 && <Choices choices={choices} chosen={chosen} onChoose={choose} />}
      <Failure error={error ?? working.error} />
      <div class="cw-bar">
        {result && (
          <Button
            look="danger"
            icon="undo"
            busy={busy || working.busy}
            disabled={isNothing(result)}
            onClick={rollBack}
          >
            {t('Roll back now')}
          </Button>
        )}
        <Button onClick={onClose}>{t('Close')}</Button>
      </div>
    </>
  );
}

interface DryRun {
  result: Rollback | null;
  /**
   * Everything that is left alone unless chosen, including what was chosen, so that it can be
   * unticked.
   */
  choices: readonly Choice[];
  busy: boolean;
  error: unknown;
}

/** Repeats the dry run on every change; ignores outdated answers. */
function useDryRun(
  checkpoint: string,
  chosen: readonly string[]
): DryRun & { adopt: (result: Rollback) => void } {
  const { actions } = useRun();
  const [state, setState] = useState<DryRun>({
    result: null,
    choices: [],
    busy: true,
    error: null
  });
  const known = useRef(state.choices);
  known.current = state.choices;
  const adopt = useCallback(
    (result: Rollback): void =>
      setState(({ choices }) => ({
        result,
        choices: mergeChoices(choices, choicesIn(result), chosen),
        busy: false,
        error: null
      })),
    [chosen]
  );
  useEffect(() => {
    let isNewest = true;
    setState(before => ({ ...before, busy: true, error: null }));
    actions
      .rollback(checkpoint, { dry_run: true, ...overwriteRequest(known.current, chosen) })
      .then(
        result => isNewest && adopt(result),
        (error: unknown) => isNewest && setState(before => ({ ...before, busy: false, error }))
      );
    return () => {
      isNewest = false;
    };
  }, [actions, adopt, checkpoint, chosen]);
  return { ...state, adopt };
}

/** Merges new choices, keeping the order of known ones. */
function mergeChoices(
  before: readonly Choice[],
  now: readonly Choice[],
  chosen: readonly string[]
): Choice[] {
  const newest = new Map(now.map(one => [one.key, one]));
  const staying = before
    .filter(({ key }) => newest.has(key) || chosen.includes(key))
    .map(one => newest.get(one.key) ?? one);
  const known = new Set(staying.map(({ key }) => key));
  return [...staying, ...now.filter(({ key }) => !known.has(key))];
}
