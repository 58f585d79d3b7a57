/**
 * "Watch my data": a line below each cell that the user runs, saying what it did to tables. Off by
 * default; the switch is stored in the notebook.
 *
 * Lab sends cells to the kernel without waiting for those before them, so the kernel itself records
 * the tables in between. It is told to ahead of the first cell, on the same connection.
 */

import { NotebookActions, type Notebook, type NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { ToolbarButton } from '@jupyterlab/ui-components';
import { render } from 'preact';

import { CoworkError, type Channel } from '../../../shared/channel/channel';
import { EffectLines } from '../../../shared/effects/EffectLines';
import type { CellRecorder, DataEffect, Page, StaleCell } from '../../../shared/types';
import { t } from '../../../shared/text/translate';
import type { Cell } from '../../notebook/cellCommands';
import { StaleNote } from '../../notebook/StaleCells';
import { staleCells } from '../../notebook/staleness';

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

const RETRY_MS = 250;
const MAX_RETRY_MS = 30_000;
const GONE: readonly string[] = ['restarting', 'autorestarting', 'terminating', 'dead'];

type CodeCell = Cell & { model: { executionCount: number | null } };

interface RanCell {
  cell: Cell;
  source: string;
  execution_count: number;
}

/** Cells of a notebook that run, and those that did since the kernel was last free to be asked. */
class Run {
  readonly waiting = new Map<Cell, string>();
  ended: RanCell[] = [];
  /** How often the kernel was too busy, since it last answered. */
  refusals = 0;

  /** Deleted cells do not end. */
  get isOver(): boolean {
    return [...this.waiting.keys()].every(({ isDisposed }) => isDisposed);
  }
}

export class DataWatch {
  private readonly lines = new Map<Cell, HTMLElement>();
  private readonly runs = new Map<NotebookPanel, Run>();
  private readonly recording = new WeakMap<NotebookPanel, Kernel.IKernelConnection>();
  /** Null until known, and empty if it cannot be: then cells are recorded from the second on. */
  private recorder: string | null = null;
  private readonly ready: Promise<void>;

  constructor(
    private readonly channel: Channel,
    private readonly panels: () => NotebookPanel[]
  ) {
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) =>
      this.begin(notebook, cell)
    );
    NotebookActions.executed.connect((_, { notebook, cell }) => this.end(notebook, cell));
    this.ready = channel.request<CellRecorder>('GET', 'cell-recorder').then(
      ({ expression }) => {
        this.recorder = expression;
      },
      () => {
        this.recorder = '';
      }
    );
  }

  /** It looks pressed once cells are indeed watched. */
  addSwitch(panel: NotebookPanel): void {
    const show = (): void => {
      if (!panel.isDisposed) {
        button.pressed = isWatched(panel) && this.recorder !== null;
      }
    };
    const button = new ToolbarButton({
      className: 'cw-watch-switch',
      label: t('Watch my data'),
      tooltip: t('Show what each cell you run does to tables'),
      onClick: () => {
        setWatched(panel, !isWatched(panel));
        show(); // Lab has pressed it already
        void this.ready.then(show);
        if (!isWatched(panel)) {
          this.forget(panel);
        }
      }
    });
    panel.toolbar.insertBefore('spacer', ITEM, button);
    panel.sessionContext.statusChanged.connect((_, status) => {
      if (GONE.includes(status)) {
        this.drop(panel);
      }
    });
    void Promise.all([panel.context.ready, this.ready]).then(show);
  }

  private begin(notebook: Notebook, cell: Cell): void {
    const panel = this.panelOf(notebook);
    if (panel === undefined || !isWatched(panel)) {
      return;
    }
    this.record(panel);
    const run = this.runs.get(panel) ?? new Run();
    this.runs.set(panel, run);
    run.waiting.set(cell, cell.model.sharedModel.source);
  }

  /** Nothing is awaited here: the cell is sent next. */
  private record(panel: NotebookPanel): void {
    const kernel = panel.sessionContext.session?.kernel;
    const isPython = panel.content.model?.defaultKernelLanguage === 'python';
    if (!kernel || !isPython || !this.recorder || this.recording.get(panel) === kernel) {
      return;
    }
    this.recording.set(panel, kernel);
    const { done } = kernel.requestExecute({
      code: '',
      silent: true,
      store_history: false,
      user_expressions: { cowork: this.recorder },
      allow_stdin: true, // for the whole kernel
      stop_on_error: false
    });
    done.catch(() => this.recording.delete(panel));
  }

  private end(notebook: Notebook, cell: Cell): void {
    const panel = this.panelOf(notebook);
    const run = panel && this.runs.get(panel);
    const source = run?.waiting.get(cell);
    if (panel === undefined || run === undefined || source === undefined) {
      return;
    }
    run.waiting.delete(cell);
    const { executionCount } = (cell as CodeCell).model;
    if (typeof executionCount === 'number') {
      run.ended.push({ cell, source, execution_count: executionCount });
    } else {
      this.draw(panel, cell, [], []); // empty, or a cell before it failed
    }
    if (run.isOver) {
      void this.tell(panel, run);
    }
  }

  private async tell(panel: NotebookPanel, run: Run): Promise<void> {
    const { ended } = run;
    run.ended = [];
    const later = new Set(ended.map(({ cell }) => cell.model.id));
    for (const [at, one] of ended.entries()) {
      const { id } = one.cell.model;
      later.delete(id);
      try {
        const [items, stale] = await Promise.all([
          this.effects(panel, one),
          staleCells(this.channel, panel.context.localPath, id)
        ]);
        const left = stale.filter(({ cell_id }) => !later.has(cell_id));
        run.refusals = 0;
        this.draw(panel, one.cell, items, left);
      } catch (error) {
        if (error instanceof CoworkError && error.code === 'kernel_busy') {
          run.ended = [...ended.slice(at), ...run.ended];
          this.tellLater(panel, run);
          return;
        }
        this.draw(panel, one.cell, [], []); // no kernel of ours, or none any more
      }
    }
  }

  /** A kernel may be busy for another, or slow to answer; it keeps what it has recorded. */
  private tellLater(panel: NotebookPanel, run: Run): void {
    run.refusals += 1;
    setTimeout(
      () => {
        if (this.runs.get(panel) === run && run.isOver && !panel.isDisposed) {
          void this.tell(panel, run);
        }
      },
      Math.min(RETRY_MS * 2 ** run.refusals, MAX_RETRY_MS)
    );
  }

  private async effects(
    panel: NotebookPanel,
    { cell, source, execution_count }: RanCell
  ): Promise<readonly DataEffect[]> {
    const body = {
      notebook: panel.context.localPath,
      cell_id: cell.model.id,
      source,
      execution_count
    };
    return (await this.channel.request<Page<DataEffect>>('POST', 'cell-effects', body)).items;
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

  /** A kernel that is gone has taken with it what it recorded. */
  private drop(panel: NotebookPanel): void {
    this.runs.delete(panel);
    this.recording.delete(panel);
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
