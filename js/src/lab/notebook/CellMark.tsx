/** The bar below a changed cell: what happened, the diff, Accept and Revert. */

import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { Button, Failure } from '../../shared/ui/Button';
import { counted, msg, translateKnown, t } from '../../shared/text/translate';
import type { Decision, PlacedChange } from './cellChanges';
import { changedLines, diffRows, type Row } from './wordDiff';

const WORDS: Record<PlacedChange['kind'], string> = {
  added: msg('Added by Cowork'),
  changed: msg('Changed by Cowork'),
  moved: msg('Moved by Cowork'),
  deleted: msg('Cowork deleted a cell here')
};

interface CellMarkProps {
  standing: PlacedChange;
  /** Open changes in the whole notebook. */
  count: number;
  decide: (decision: Decision) => Promise<void>;
  acceptAll: () => Promise<void>;
  /** Cells that are older than the change. */
  stale: VNode;
}

export function CellMark({ standing, count, decide, acceptAll, stale }: CellMarkProps): VNode {
  const { change, kind, source, isEdited } = standing;
  const before = change.before?.source ?? '';
  const [isSideBySide, setSideBySide] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const rows = useMemo(() => rowsOf(kind, before, source), [kind, before, source]);
  const attempt = (deciding: Promise<void>): void => void deciding.catch(setError);
  const lines = changedLines(rows);
  return (
    <div class="cw-cell-mark-change" role="group" aria-label={translateKnown(WORDS[kind])}>
      {kind === 'deleted' && <Unified rows={rows} />}
      {kind === 'changed' && !isSideBySide && change.after?.cell_type === 'markdown' && (
        <Unified rows={rows} isForRendered />
      )}
      {isSideBySide && <SideBySide rows={rows} />}
      <div class="cw-cell-mark-row">
        <span>
          {translateKnown(WORDS[kind])}
          {lines > 0 && ` · ${counted(lines, '%1 line', '%1 lines')}`}
          {isEdited && ` · ${t('you edited it since')}`}
        </span>
        <Button look="link" onClick={() => attempt(decide('accept'))}>
          {t('Accept')}
        </Button>
        {count > 1 && (
          <Button look="link" onClick={() => attempt(acceptAll())}>
            {t('Accept all %1', String(count))}
          </Button>
        )}
        <Button
          look="link"
          onClick={() => (isEdited ? setAsking(true) : attempt(decide('revert')))}
        >
          {t('Revert')}
        </Button>
        {kind === 'changed' && (
          <Button look="link" expanded={isSideBySide} onClick={() => setSideBySide(!isSideBySide)}>
            {t('Side by side')}
          </Button>
        )}
      </div>
      {isEdited && isAsking && (
        <div class="cw-cell-mark-row" role="alert">
          <span>{t('Revert also undoes your own edit of this cell.')}</span>
          <Button look="link" onClick={() => attempt(decide('revert'))}>
            {t('Revert all of it')}
          </Button>
          <Button look="link" onClick={() => setAsking(false)}>
            {t('Keep it')}
          </Button>
        </div>
      )}
      {kind === 'changed' && stale}
      <Failure error={error} />
    </div>
  );
}

/** New cells have nothing to compare with, and moved ones are unchanged. */
function rowsOf(kind: PlacedChange['kind'], before: string, source: string): readonly Row[] {
  if (kind === 'moved') {
    return [];
  }
  const rows = diffRows(before, source);
  return kind === 'changed'
    ? rows
    : rows.filter(row => row.kind === (kind === 'added' ? 'added' : 'removed'));
}

/** For cells without a usable editor: deleted ones, and rendered Markdown. */
function Unified({
  rows,
  isForRendered = false
}: {
  rows: readonly Row[];
  isForRendered?: boolean;
}): VNode {
  return (
    <pre
      class={`cw-cell-diff ${isForRendered ? 'cw-cell-diff-rendered' : ''}`}
      tabIndex={0}
      aria-label={t('What changed')}
    >
      {rows.map((row, at) => (
        <Line key={at} row={row} />
      ))}
    </pre>
  );
}

function SideBySide({ rows }: { rows: readonly Row[] }): VNode {
  const side = (label: string, without: Row['kind']): VNode => (
    <pre class="cw-cell-diff" tabIndex={0} aria-label={label}>
      {rows.map((row, at) => row.kind !== without && <Line key={at} row={row} />)}
    </pre>
  );
  return (
    <div class="cw-cell-sides">
      {side(t('Before'), 'added')}
      {side(t('Now'), 'removed')}
    </div>
  );
}

function Line({ row }: { row: Row }): VNode {
  return (
    <span class={`cw-line-${row.kind}`}>
      {row.pieces.map(({ text, isNew }, at) =>
        isNew ? (
          <span key={at} class="cw-words-new">
            {text}
          </span>
        ) : (
          text
        )
      )}
      {'\n'}
    </span>
  );
}
