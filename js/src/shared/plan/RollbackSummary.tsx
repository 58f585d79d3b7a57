import type { VNode } from 'preact';

import type { Rollback } from '../types';
import { counted, t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';
import { choiceText, leftIn } from './Choices';

const MAX_PATHS = 30;

export function isNothing({ restored, removed }: Rollback): boolean {
  return restored.length + removed.length === 0;
}

/** What a rollback did or would do, by file. */
export function RollbackSummary({
  result,
  isPreview = false
}: {
  result: Rollback;
  isPreview?: boolean;
}): VNode {
  if (isNothing(result) && result.skipped.length === 0) {
    return <p class="cw-dim">{t('Nothing has changed since then.')}</p>;
  }
  const left = leftIn([...result.skipped, ...(result.partly ?? [])]);
  const stayed = isPreview ? t('Would stay as it is') : t('Stayed as it is');
  const cells = left.filter(({ cell }) => cell).map(choiceText);
  return (
    <div class="cw-rollback">
      <Paths
        title={isPreview ? t('Would be restored') : t('Restored')}
        colour="ok"
        paths={result.restored}
      />
      <Paths
        title={isPreview ? t('Would be removed') : t('Removed')}
        colour="error"
        paths={result.removed}
      />
      <Paths title={stayed} colour="ask" paths={left.filter(({ cell }) => !cell).map(choiceText)} />
      <Paths
        title={stayed}
        colour="ask"
        paths={cells}
        counts={counted(cells.length, '%1 cell', '%1 cells')}
      />
      {result.notes?.map(note => (
        <p key={note} class="cw-dim">
          {visible(bounded(note, 1000))}
        </p>
      ))}
    </div>
  );
}

function Paths({
  title,
  colour,
  paths,
  counts = counted(paths.length, '%1 file', '%1 files')
}: {
  title: string;
  colour: string;
  paths: readonly string[];
  counts?: string;
}): VNode | null {
  if (paths.length === 0) {
    return null;
  }
  return (
    <div>
      <p class={`cw-ink cw-title cw-colour-${colour}`}>{`${title} · ${counts}`}</p>
      <ul class="cw-paths">
        {paths.slice(0, MAX_PATHS).map(path => (
          <li key={path}>{oneLine(path, 300)}</li>
        ))}
        {paths.length > MAX_PATHS && (
          <li>{t('… and %1 more', String(paths.length - MAX_PATHS))}</li>
        )}
      </ul>
    </div>
  );
}
