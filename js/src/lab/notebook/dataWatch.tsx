/**
 * "Watch my data": a line below each cell that the user runs, saying what it did to tables. Off by
 * default; the switch is stored in the notebook.
 */

import { NotebookActions, type Notebook, type NotebookPanel } from '@jupyterlab/notebook';
import { ToolbarButton } from '@jupyterlab/ui-components';
import { render } from 'preact';

import type { Channel } from '../../shared/channel/channel';
import { EffectLines } from '../../shared/effects/EffectLines';
import type { DataEffect, Page, StaleCell } from '../../shared/types';
import { t } from '../../shared/text/translate';
import { StaleNote } from './StaleCells';
import { staleCells } from './staleness';

type Cell = Notebook['widgets'][number];

/** Our key in the notebook's metadata, and the switch in it. */
const METADATA = 'cowork';
const WATCHED = 'watch_data';
const ITEM = 'cowork-watch-data';

function isWatched(panel: NotebookPanel): boolean {
  const ours = panel.content.model?.getMetadata(METADATA) as Record<string, unknown> | undefined;
  return ours?.[WATCHED] === true;
}

function setWatched(panel: NotebookPanel, watched: boolean): void {
  const { model } = panel.content;
  const { [WATCHED]: _before, ...others } = (model?.getMetadata(METADATA) ?? {}) as Record<
    string,
    unknown
  >;
  model?.setMetadata(METADATA, watched ? { ...others, [WATCHED]: true } : others);
}

export class DataWatch {
  private readonly lines = new Map<Cell, HTMLElement>();
  private readonly pending = new Map<NotebookPanel, number>();

  constructor(
    private readonly channel: Channel,
    private readonly panels: () => NotebookPanel[]
  ) {
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) =>
      this.begin(notebook, cell)
    );
    NotebookActions.executed.connect((_, { notebook, cell }) => void this.end(notebook, cell));
  }

  addSwitch(panel: NotebookPanel): void {
    const button = new ToolbarButton({
      className: 'cw-watch-switch',
      label: t('Watch my data'),
      tooltip: t('Show what each cell you run does to tables'),
      onClick: () => {
        setWatched(panel, !isWatched(panel));
        this.look(panel);
        button.pressed = isWatched(panel);
        if (!isWatched(panel)) {
          this.forget(panel);
        }
      }
    });
    panel.toolbar.insertBefore('spacer', ITEM, button);
    void panel.context.ready.then(() => {
      if (!panel.isDisposed) {
        button.pressed = isWatched(panel);
      }
    });
  }

  /** Takes the initial state, which the first cell is compared with. */
  private look(panel: NotebookPanel): void {
    if (isWatched(panel)) {
      this.ask(panel, { cell_id: '-', source: '', phase: 'before' }).catch(() => undefined);
    }
  }

  private begin(notebook: Notebook, { model }: Cell): void {
    const panel = this.panelOf(notebook);
    if (panel === undefined || !isWatched(panel)) {
      return;
    }
    const waiting = this.pending.get(panel) ?? 0;
    this.pending.set(panel, waiting + 1);
    if (waiting === 0) {
      const source = model.sharedModel.source;
      this.ask(panel, { cell_id: model.id, source, phase: 'before' }).catch(() => undefined);
    }
  }

  private async end(notebook: Notebook, cell: Cell): Promise<void> {
    const panel = this.panelOf(notebook);
    if (panel === undefined || !isWatched(panel) || cell.model.type !== 'code') {
      return;
    }
    this.pending.set(panel, Math.max(0, (this.pending.get(panel) ?? 0) - 1));
    const { id, sharedModel } = cell.model;
    try {
      const [{ items }, stale] = await Promise.all([
        this.ask(panel, { cell_id: id, source: sharedModel.source, phase: 'after' }),
        staleCells(this.channel, panel.context.localPath, id)
      ]);
      this.draw(panel, cell, items, stale);
    } catch {
      this.draw(panel, cell, [], []); // no kernel of ours, or none any more
    }
  }

  private ask(panel: NotebookPanel, cell: object): Promise<Page<DataEffect>> {
    const body = { notebook: panel.context.localPath, ...cell };
    return this.channel.request('POST', 'cell-effects', body);
  }

  private draw(
    panel: NotebookPanel,
    cell: Cell,
    effects: readonly DataEffect[],
    stale: readonly StaleCell[]
  ): void {
    const known = this.lines.get(cell);
    if (cell.isDisposed || (!known && effects.length === 0 && stale.length === 0)) {
      return;
    }
    const node = known ?? document.createElement('div');
    if (!known) {
      node.className = 'cowork-root cw-cell-effects';
      this.lines.set(cell, node);
      cell.node.append(node);
      cell.disposed.connect(() => this.lines.delete(cell));
    }
    render(
      <>
        <EffectLines effects={effects} />
        <StaleNote panel={panel} stale={stale} />
      </>,
      node
    );
  }

  private forget(panel: NotebookPanel): void {
    for (const cell of panel.content.widgets) {
      const node = this.lines.get(cell);
      if (node) {
        render(null, node);
        node.remove();
        this.lines.delete(cell);
      }
    }
  }

  private panelOf(notebook: Notebook): NotebookPanel | undefined {
    return this.panels().find(panel => panel.content === notebook);
  }
}
