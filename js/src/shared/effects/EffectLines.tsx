import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { Fold } from '../ui/Fold';
import { Icon } from '../ui/icons';
import type { Silence } from '../run/actions';
import { useRunIfAny } from '../run/context';
import type { DataEffect, DataWarning, FieldState, TableState } from '../types';
import { counted, t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';
import { PinMenu } from './Expectations';

const MAX_LINES = 8;
const MAX_FIELDS = 60;

/** What code did to tables, one line each, with warnings. */
export function EffectLines({ effects }: { effects: readonly DataEffect[] }): VNode | null {
  const [all, setAll] = useState(false);
  if (effects.length === 0) {
    return null;
  }
  const hidden = all ? 0 : Math.max(0, effects.length - MAX_LINES);
  return (
    <div class="cw-effects" role="group" aria-label={t('Data effects')}>
      {hidden > 0 && (
        <Button look="link" onClick={() => setAll(true)}>
          {counted(hidden, 'Show %1 earlier effect', 'Show %1 earlier effects')}
        </Button>
      )}
      {effects.slice(hidden).map((effect, at) => (
        <Effect key={`${effect.call_id}-${effect.of}-${hidden + at}`} effect={effect} />
      ))}
    </div>
  );
}

function Effect({ effect }: { effect: DataEffect }): VNode {
  const run = useRunIfAny();
  const [isPinning, setPinning] = useState(false);
  const { of, line = '', after, warnings = [] } = effect;
  return (
    <div class="cw-effect">
      {line && (
        <div class="cw-effect-row">
          <Fold summary={<EffectLine of={of} line={line} />}>
            {() => <Details effect={effect} />}
          </Fold>
          {run?.live && after && (
            <Button look="link" expanded={isPinning} onClick={() => setPinning(!isPinning)}>
              {t('Pin…')}
            </Button>
          )}
        </div>
      )}
      {isPinning && after && <PinMenu of={of} table={after} />}
      {warnings.map((warning, at) => (
        <Warning key={at} warning={warning} effect={effect} />
      ))}
    </div>
  );
}

/** Emphasises the table's name; the server's line may begin with it. */
function EffectLine({ of, line }: { of: string; line: string }): VNode {
  const name = of.replace(/^file:/, '');
  const rest = [of, name].reduce(
    (text, prefix) => (text.startsWith(`${prefix}: `) ? text.slice(prefix.length + 2) : text),
    line
  );
  return (
    <span class="cw-effect-line">
      <strong>{oneLine(name, 120)}</strong> {visible(bounded(rest, 400))}
    </span>
  );
}

function Warning({
  warning: { code, message, line, advice },
  effect
}: {
  warning: DataWarning;
  effect: DataEffect;
}): VNode {
  const run = useRunIfAny();
  const [silence, setSilence] = useState<Silence | null>(null);
  const { busy, error, run: act } = useAction();
  const choose = (chosen: Silence): void =>
    void act(async () => {
      await run?.actions.silence(chosen);
      setSilence(chosen.silenced ? chosen : null);
    });
  if (silence !== null) {
    return (
      <p class="cw-dim">
        {t('Silenced. Warnings like this are no longer shown.')}{' '}
        <Button look="link" busy={busy} onClick={() => choose({ ...silence, silenced: false })}>
          {t('Undo')}
        </Button>
        <Failure error={error} />
      </p>
    );
  }
  return (
    <div class="cw-warning cw-colour-ask" data-code={code}>
      <Icon name="alert" />
      <div>
        <span>{visible(bounded(message, 1000))}</span>{' '}
        {line && <span class="cw-dim">{t('line %1', String(line))}</span>}
        {advice && <div class="cw-dim">{visible(bounded(advice, 1000))}</div>}
        <Failure error={error} />
      </div>
      {run?.live && (
        <SilenceMenu
          cellId={effect.cell_id ?? null}
          onChoose={(scope, cell_id) => choose({ code, scope, cell_id, silenced: true })}
        />
      )}
    </div>
  );
}

interface SilenceMenuProps {
  cellId: string | null;
  onChoose: (scope: Silence['scope'], cellId: string | null) => void;
}

function SilenceMenu({ cellId, onChoose }: SilenceMenuProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const choices: [Silence['scope'], string][] = [
    ...(cellId === null ? [] : [['cell', t('In this cell')] as [Silence['scope'], string]]),
    ['notebook', t('In this notebook')],
    ['everywhere', t('Everywhere')]
  ];
  return (
    <span class="cw-silence">
      <Button look="link" expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t('Silence')}
      </Button>
      {isOpen &&
        choices.map(([scope, label]) => (
          <Button key={scope} look="link" onClick={() => onChoose(scope, cellId)}>
            {label}
          </Button>
        ))}
    </span>
  );
}

function Details({ effect: { before, after, sampled } }: { effect: DataEffect }): VNode {
  const names = [...new Set([...fieldsOf(after), ...fieldsOf(before)].map(({ name }) => name))];
  return (
    <>
      {sampled && <p class="cw-dim">{t('Seen in a sample of the rows.')}</p>}
      <table class="cw-effect-table">
        <thead>
          <tr>
            <th>{t('Column')}</th>
            <th>{t('Type')}</th>
            <th>{t('Missing')}</th>
            <th>{t('Different')}</th>
            <th>{t('Range')}</th>
          </tr>
        </thead>
        <tbody>
          {names.slice(0, MAX_FIELDS).map(name => (
            <FieldRow
              key={name}
              name={name}
              before={fieldsOf(before).find(one => one.name === name)}
              after={fieldsOf(after).find(one => one.name === name)}
            />
          ))}
        </tbody>
      </table>
      {typeof after?.duplicates === 'number' && (
        <p class="cw-dim">{counted(after.duplicates, '%1 repeated row', '%1 repeated rows')}</p>
      )}
    </>
  );
}

function fieldsOf(table: TableState | null | undefined): readonly FieldState[] {
  return table?.fields ?? [];
}

interface FieldRowProps {
  name: string;
  before: FieldState | undefined;
  after: FieldState | undefined;
}

function FieldRow({ name, before, after }: FieldRowProps): VNode {
  const change = (words: (field: FieldState) => string): string => {
    const was = before ? words(before) : '';
    const is = after ? words(after) : '';
    return !before || was === is ? is : !after ? was : `${was} → ${is}`;
  };
  return (
    <tr class={after ? (before ? '' : 'cw-effect-new') : 'cw-effect-gone'}>
      <td>{oneLine(name, 80)}</td>
      <td>
        {oneLine(
          change(({ type, zone }) => (zone ? `${type} (${zone})` : type)),
          80
        )}
      </td>
      <td>{change(({ missing }) => missing.toLocaleString())}</td>
      <td>{change(({ distinct }) => distinct?.toLocaleString() ?? '')}</td>
      <td>{oneLine(change(formatRange), 160)}</td>
    </tr>
  );
}

function formatRange({ low, high, values }: FieldState): string {
  if (values.length > 0) {
    return values.join(', ');
  }
  return low === null || low === undefined ? '' : `${String(low)} – ${String(high)}`;
}
