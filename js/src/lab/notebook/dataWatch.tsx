/**
 * "Watch my data": a line below each cell that the user runs, saying what it did to tables. Cells
 * that run without a pause share one, below the last of them. Off by default; the switch is stored
 * in the notebook.
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
type CodeCell = Cell & { model: { executionCount: number | null } };

/** Our key in the notebook's metadata, and the switch in it. */
const METADATA = 'cowork';
const WATCHED = 'watch_data';
const ITEM = 'cowork-watch-data';
/** How long no cell may be running before the tables are compared. */
export const PAUSE_MS = 300;
const GONE: readonly string[] = ['restarting', 'autorestarting', 'terminating', 'dead'];

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

interface RanCell {
  cell: Cell;
  source: string;
}

/** Cells that run with no look at the tables in between. */
interface Run {
  readonly waiting: Map<Cell, string>;
  readonly ended: RanCell[];
  timer?: ReturnType<typeof setTimeout>;
}

export class DataWatch {
  private readonly lines = new Map<Cell, HTMLElement>();
  private readonly runs = new Map<NotebookPanel, Run>();
  /** Those whose tables the server has seen since their kernel started. */
  private readonly seen = new WeakSet<NotebookPanel>();
  private readonly restarted = new WeakSet<NotebookPanel>();

  constructor(
    private readonly channel: Channel,
    private readonly panels: () => NotebookPanel[]
  ) {
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) =>
      this.begin(notebook, cell)
    );
    NotebookActions.executed.connect((_, { notebook, cell }) => this.end(notebook, cell));
  }

  addSwitch(panel: NotebookPanel): void {
    const button = new ToolbarButton({
      className: 'cw-watch-switch',
      label: t('Watch my data'),
      tooltip: t('Show what each cell you run does to tables'),
      onClick: () => {
        setWatched(panel, !isWatched(panel));
        void this.look(panel);
        button.pressed = isWatched(panel);
        if (!isWatched(panel)) {
          this.forget(panel);
        }
      }
    });
    panel.toolbar.insertBefore('spacer', ITEM, button);
    const { context, sessionContext } = panel;
    sessionContext.statusChanged.connect((_, status) => this.follow(panel, status));
    void context.ready.then(() => {
      if (!panel.isDisposed) {
        button.pressed = isWatched(panel);
      }
    });
    void Promise.all([context.ready, sessionContext.ready]).then(() => this.look(panel));
  }

  /** The tables of a kernel that is gone are not compared with those of the next. */
  private follow(panel: NotebookPanel, status: string): void {
    if (GONE.includes(status)) {
      this.drop(panel);
      this.restarted.add(panel);
    } else if (status === 'idle' && this.restarted.delete(panel)) {
      void this.look(panel);
    }
  }

  private drop(panel: NotebookPanel): void {
    clearTimeout(this.runs.get(panel)?.timer);
    this.runs.delete(panel);
    this.seen.delete(panel);
  }

  /** Takes the present state, which what runs next is compared with. */
  private async look(panel: NotebookPanel): Promise<void> {
    if (panel.isDisposed || !isWatched(panel) || this.runs.has(panel)) {
      return;
    }
    try {
      await this.ask(panel, { cell_id: '-', source: '', phase: 'before' });
      if (!this.runs.has(panel)) {
        this.seen.add(panel);
      }
    } catch {
      // no kernel of ours, or none yet
    }
  }

  private begin(notebook: Notebook, cell: Cell): void {
    const panel = this.panelOf(notebook);
    if (panel === undefined || !isWatched(panel)) {
      return;
    }
    const { id, sharedModel } = cell.model;
    const { source } = sharedModel;
    if (!this.runs.has(panel)) {
      this.ask(panel, { cell_id: id, source, phase: 'before' }).catch(() => undefined);
    }
    const run = this.runOf(panel);
    clearTimeout(run.timer);
    run.waiting.set(cell, source);
  }

  private end(notebook: Notebook, cell: Cell): void {
    const panel = this.panelOf(notebook);
    if (panel === undefined || !isWatched(panel) || cell.model.type !== 'code') {
      return;
    }
    const run = this.runOf(panel);
    const source = run.waiting.get(cell) ?? cell.model.sharedModel.source;
    run.waiting.delete(cell);
    if ((cell as CodeCell).model.executionCount === null) {
      this.draw(panel, cell, [], []); // empty, or a cell before it failed
    } else {
      run.ended.push({ cell, source });
    }
    if ([...run.waiting.keys()].every(({ isDisposed }) => isDisposed)) {
      clearTimeout(run.timer);
      run.timer = setTimeout(() => {
        this.runs.delete(panel);
        void this.compare(panel, run.ended);
      }, PAUSE_MS);
    }
  }

  private async compare(panel: NotebookPanel, ended: readonly RanCell[]): Promise<void> {
    const last = ended.at(-1);
    if (last === undefined || panel.isDisposed || !isWatched(panel)) {
      return;
    }
    try {
      const [effects, stale] = await Promise.all([
        this.effects(panel, last, ended.slice(0, -1)),
        Promise.all(ended.map(({ cell }) => this.stale(panel, cell)))
      ]);
      ended.forEach(({ cell }, at) => {
        const later = new Set(ended.slice(at).map(one => one.cell.model.id));
        const left = (stale[at] ?? []).filter(({ cell_id }) => !later.has(cell_id));
        this.draw(panel, cell, cell === last.cell ? effects : [], left, ended.length);
      });
    } catch {
      this.seen.delete(panel); // no kernel of ours, or none any more
      ended.forEach(({ cell }) => this.draw(panel, cell, [], []));
    }
  }

  private async effects(
    panel: NotebookPanel,
    { cell, source }: RanCell,
    above: readonly RanCell[]
  ): Promise<readonly DataEffect[]> {
    if (above.length > 0 && !this.seen.has(panel)) {
      await this.look(panel);
      return [];
    }
    const together = above.map(one => one.source);
    const run = { cell_id: cell.model.id, source, together, phase: 'after' };
    const { items } = await this.ask(panel, run);
    this.seen.add(panel);
    return items;
  }

  private async stale(panel: NotebookPanel, { isDisposed, model }: Cell): Promise<StaleCell[]> {
    return isDisposed ? [] : staleCells(this.channel, panel.context.localPath, model.id);
  }

  private runOf(panel: NotebookPanel): Run {
    const run = this.runs.get(panel) ?? { waiting: new Map<Cell, string>(), ended: [] };
    this.runs.set(panel, run);
    return run;
  }

  private ask(panel: NotebookPanel, cell: object): Promise<Page<DataEffect>> {
    const body = { notebook: panel.context.localPath, ...cell };
    return this.channel.request('POST', 'cell-effects', body);
  }

  private draw(
    panel: NotebookPanel,
    cell: Cell,
    effects: readonly DataEffect[],
    stale: readonly StaleCell[],
    together = 1
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
        {together > 1 && effects.length > 0 && (
          <div class="cw-dim">{t('%1 cells ran together:', String(together))}</div>
        )}
        <EffectLines effects={effects} />
        <StaleNote panel={panel} stale={stale} />
      </>,
      node
    );
  }

  private forget(panel: NotebookPanel): void {
    this.drop(panel);
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
