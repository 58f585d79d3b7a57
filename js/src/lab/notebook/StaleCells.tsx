import type { NotebookPanel } from '@jupyterlab/notebook';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

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
  if (stale.length === 0) {
    return null;
  }
  return (
    <div class="cw-stale" role="note">
      {counted(stale.length, '%1 cell depends on this:', '%1 cells depend on this:')}{' '}
      <Button look="link" onClick={onRun}>
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

interface StaleNoteProps {
  panel: NotebookPanel;
  stale: readonly StaleCell[];
  /** A cell that was changed but not yet run, and has to run first. */
  changed?: string;
}

/** Those that have not run since, whoever runs cells; all again when the changed cell runs. */
function useNotRun({ panel, stale, changed }: StaleNoteProps): readonly StaleCell[] {
  const [left, setLeft] = useState(stale);
  useEffect(() => {
    setLeft(stale);
    const ids = new Set([changed, ...stale.map(({ cell_id }) => cell_id)]);
    const models = panel.content.widgets.map(({ model }) => model).filter(({ id }) => ids.has(id));
    const follow = (
      { id }: { id: string },
      { name, newValue }: { name: string; newValue?: unknown }
    ): void => {
      if (name === 'executionCount' && typeof newValue === 'number') {
        setLeft(some => (id === changed ? stale : some.filter(({ cell_id }) => cell_id !== id)));
      }
    };
    models.forEach(model => model.stateChanged.connect(follow));
    return () => models.forEach(model => model.stateChanged.disconnect(follow));
  }, [panel, stale, changed]);
  return left;
}

export function StaleNote(props: StaleNoteProps): VNode {
  const { panel, changed } = props;
  const stale = useNotRun(props);
  const run = (): void =>
    runInOrder(panel, [...(changed ? [changed] : []), ...stale.map(({ cell_id }) => cell_id)]);
  const show = (cellId: string): void => showCell(panel.content, cellId);
  return <StaleCells stale={stale} onRun={run} onShow={show} />;
}
