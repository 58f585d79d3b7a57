import type { NotebookPanel } from '@jupyterlab/notebook';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { Button } from '../../shared/ui/Button';
import type { StaleCell } from '../../shared/types';
import { counted, t } from '../../shared/text/translate';
import { oneLine } from '../../shared/text/visible';
import { showCell } from './showCell';
import { runInOrder } from './staleness';

interface StaleCellsProps {
  stale: readonly StaleCell[];
  onRun: () => void;
  onShow: (cellId: string) => void;
}

function StaleCells({ stale, onRun, onShow }: StaleCellsProps): VNode | null {
  const [isListed, setListed] = useState(false);
  const [hasRun, setRun] = useState(false);
  if (stale.length === 0 || hasRun) {
    return null;
  }
  return (
    <div class="cw-stale" role="note">
      {counted(stale.length, '%1 cell depends on this:', '%1 cells depend on this:')}{' '}
      <Button
        look="link"
        onClick={() => {
          setRun(true);
          onRun();
        }}
      >
        {t('Run them')}
      </Button>{' '}
      <Button look="link" expanded={isListed} onClick={() => setListed(!isListed)}>
        {t('Show them')}
      </Button>
      {isListed && (
        <ul class="cw-stale-list">
          {stale.map(({ cell_id, cell, name }) => (
            <li key={cell_id}>
              <Button look="link" onClick={() => onShow(cell_id)}>
                {t('Cell %1', String(cell))}
              </Button>{' '}
              <span class="cw-dim">{t('uses %1', oneLine(name, 60))}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export function StaleNote({
  panel,
  stale,
  changed
}: {
  panel: NotebookPanel;
  stale: readonly StaleCell[];
  /** A cell that was changed but not yet run, and has to run first. */
  changed?: string;
}): VNode {
  const run = (): void =>
    runInOrder(panel, [...(changed ? [changed] : []), ...stale.map(({ cell_id }) => cell_id)]);
  const show = (cellId: string): void => showCell(panel.content, cellId);
  return <StaleCells stale={stale} onRun={run} onShow={show} />;
}
