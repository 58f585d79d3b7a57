import type { VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { Fold } from '../ui/Fold';
import { useRun } from '../run/context';
import type { Expectation, NewExpectation, TableState } from '../types';
import { counted, t } from '../text/translate';
import { oneLine } from '../text/visible';
import { describeExpectation, isPinned, pinsFor } from './pins';

/** Loads the conversation's expectations on demand. */
function useExpectations(): {
  all: readonly Expectation[];
  error: unknown;
  busy: boolean;
  change(work: () => Promise<unknown>): void;
} {
  const { actions } = useRun();
  const [all, setAll] = useState<readonly Expectation[]>([]);
  const { run, error, busy } = useAction();
  const load = useCallback(async () => setAll(await actions.expectations()), [actions]);
  useEffect(() => void run(load), [run, load]);
  const change = (work: () => Promise<unknown>): void =>
    void run(async () => {
      await work();
      await load();
    });
  return { all, error, busy, change };
}

/** What one click can pin of a table in its current state. */
export function PinMenu({ of, table }: { of: string; table: TableState }): VNode {
  const { actions } = useRun();
  const { all, error, busy, change } = useExpectations();
  return (
    <div class="cw-pins" role="group" aria-label={t('Expect from now on')}>
      {pinsFor(of, table).map(pin => {
        const words = describeExpectation(pin);
        return isPinned(pin, all) ? (
          <span key={words} class="cw-chip">
            {t('Pinned: %1', oneLine(words, 120))}
          </span>
        ) : (
          <Button key={words} disabled={busy} onClick={() => change(() => actions.expect(pin))}>
            {oneLine(words, 120)}
          </Button>
        );
      })}
      <Failure error={error} />
    </div>
  );
}

export function ExpectationList(): VNode {
  return <Fold summary={<span class="cw-dim">{t('Expectations')}</span>}>{() => <Listed />}</Fold>;
}

function Listed(): VNode {
  const { actions } = useRun();
  const { all, error, busy, change } = useExpectations();
  return (
    <>
      {all.length === 0 && !busy && (
        <p class="cw-dim">{t('None yet. Pin a line of a data effect to add one.')}</p>
      )}
      <ul
        class="cw-expectations"
        aria-label={counted(all.length, '%1 expectation', '%1 expectations')}
      >
        {all.map(one => (
          <Row
            key={one.id}
            expectation={one}
            busy={busy}
            onSave={value => change(() => actions.expect({ ...one, value }))}
            onRemove={() => change(() => actions.unexpect(one.id))}
          />
        ))}
      </ul>
      <Failure error={error} />
    </>
  );
}

interface RowProps {
  expectation: Expectation;
  busy: boolean;
  onSave: (value: NewExpectation['value']) => void;
  onRemove: () => void;
}

function Row({ expectation, busy, onSave, onRemove }: RowProps): VNode {
  const { of, value, by } = expectation;
  const [draft, setDraft] = useState<string | null>(null);
  const words = describeExpectation(expectation);
  const isNumber = typeof value === 'number';
  const number = Number(draft);
  return (
    <li class="cw-expectation">
      <span>
        <strong>{oneLine(of.replace(/^file:/, ''), 120)}</strong> {oneLine(words, 200)}{' '}
        {by === 'planner' && <span class="cw-dim">{t('proposed by the planner')}</span>}
      </span>
      {draft === null ? (
        <>
          {isNumber && (
            <Button look="link" onClick={() => setDraft(String(value))}>
              {t('Change')}
            </Button>
          )}
          <Button look="link" disabled={busy} onClick={onRemove} label={t('Remove: %1', words)}>
            {t('Remove')}
          </Button>
        </>
      ) : (
        <>
          <input
            class="cw-input"
            aria-label={t('New value for %1', words)}
            value={draft}
            onInput={event => setDraft(event.currentTarget.value)}
          />
          <Button
            disabled={busy || draft.trim() === '' || Number.isNaN(number)}
            onClick={() => {
              onSave(number);
              setDraft(null);
            }}
          >
            {t('Save')}
          </Button>
        </>
      )}
    </li>
  );
}
