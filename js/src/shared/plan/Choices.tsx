import type { VNode } from 'preact';

import { Button } from '../ui/Button';
import type { Rollback, RollbackRequest, SkippedCell } from '../types';
import { t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';

const MAX_CHOICES = 100;
const MAX_TEXT = 5000;

/** A file or notebook cell that a rollback leaves alone unless the user ticks it. */
export interface Choice {
  key: string;
  path: string;
  why: string;
  cell?: SkippedCell;
}

export function choicesIn({ skipped, partly = [] }: Rollback): Choice[] {
  return leftIn([...skipped, ...partly].filter(one => one.can_overwrite));
}

/** Files, and of notebooks that go back by cell the cells. */
export function leftIn(skipped: Rollback['skipped']): Choice[] {
  return skipped.flatMap(({ path, why, cells }): Choice[] =>
    cells?.length
      ? cells.map(cell => ({ key: JSON.stringify([path, cell.cell_id]), path, why, cell }))
      : [{ key: path, path, why }]
  );
}

/** The choices in the form of a rollback request. */
export function overwriteRequest(
  choices: readonly Choice[],
  chosen: readonly string[]
): Pick<RollbackRequest, 'overwrite' | 'overwrite_cells'> {
  const picked = choices.filter(({ key }) => chosen.includes(key));
  const overwrite = picked.filter(({ cell }) => !cell).map(({ path }) => path);
  const overwrite_cells: Record<string, string[]> = {};
  for (const { path, cell } of picked) {
    if (cell) {
      (overwrite_cells[path] ??= []).push(cell.cell_id);
    }
  }
  return {
    ...(overwrite.length > 0 ? { overwrite } : {}),
    ...(Object.keys(overwrite_cells).length > 0 ? { overwrite_cells } : {})
  };
}

interface ChoicesProps {
  choices: readonly Choice[];
  chosen: readonly string[];
  onChoose: (keys: readonly string[]) => void;
}

/** Changes made by the user or others; each is kept unless ticked. */
export function Choices({ choices, chosen, onChoose }: ChoicesProps): VNode {
  const toggle = (key: string): void =>
    onChoose(chosen.includes(key) ? chosen.filter(one => one !== key) : [...chosen, key]);
  const isAll = chosen.length === choices.length;
  return (
    <fieldset class="cw-rollback-choices">
      <legend class="cw-ink cw-title cw-colour-ask">
        {t('Would stay as it is, unless you choose otherwise')}
      </legend>
      {choices.length > 1 && (
        <Button look="link" onClick={() => onChoose(isAll ? [] : choices.map(({ key }) => key))}>
          {isAll ? t('Choose none') : t('Choose all %1', String(choices.length))}
        </Button>
      )}
      <ul class="cw-paths">
        {choices.slice(0, MAX_CHOICES).map(one => (
          <li key={one.key}>
            <span>{oneLine(choiceText(one), 400)}</span>
            <label class="cw-check">
              <input
                type="checkbox"
                aria-label={t('Roll back anyway: %1', oneLine(nameOf(one), 300))}
                checked={chosen.includes(one.key)}
                onChange={() => toggle(one.key)}
              />
              <span>{t('Roll back anyway')}</span>
            </label>
            {one.cell && <CellTexts {...one.cell} />}
          </li>
        ))}
        {choices.length > MAX_CHOICES && (
          <li>{t('… and %1 more', String(choices.length - MAX_CHOICES))}</li>
        )}
      </ul>
      <p class="cw-dim">{t('Undoing the rollback restores what is there now.')}</p>
    </fieldset>
  );
}

/** The same before the rollback and after it. */
export function choiceText(one: Choice): string {
  return one.cell ? t('%1: someone else changed it too', nameOf(one)) : `${one.path}: ${one.why}`;
}

function nameOf({ path, cell }: Choice): string {
  if (!cell) {
    return path;
  }
  return cell.number === null
    ? t('A deleted cell of %1', path)
    : t('Cell %1 of %2', String(cell.number), path);
}

function CellTexts({ before, now }: SkippedCell): VNode {
  return (
    <div class="cw-cell-texts">
      <CellText title={t('Before the agent')} text={before} instead={t('It was not there.')} />
      <CellText title={t('Now')} text={now} instead={t('Deleted.')} />
    </div>
  );
}

function CellText({
  title,
  text,
  instead
}: {
  title: string;
  text: string | null;
  instead: string;
}): VNode {
  return (
    <div>
      <p class="cw-dim">{title}</p>
      {text === null ? (
        <p class="cw-dim">{instead}</p>
      ) : (
        <pre class="cw-code" tabIndex={0} role="group" aria-label={title}>
          {visible(bounded(text, MAX_TEXT))}
        </pre>
      )}
    </div>
  );
}
