/** Marks cells whose inputs have changed since they ran. */

import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { render } from 'preact';

import type { Channel } from '../../../shared/channel/channel';
import type { Page, StaleCell } from '../../../shared/types';
import { t } from '../../../shared/text/translate';
import { oneLine } from '../../../shared/text/visible';
import type { Preferences } from '../../model/coworkModel';
import { captureCardKeys } from '../../ui/keyboard';
import type { Cell } from '../../notebook/cellCommands';
import { runInOrder, staleCells } from '../../notebook/staleness';
import { mayBeStale, RunLog, type CellTimes, type SeenCell } from './runLog';

/** Debounce while the user types or cells run. */
const PAUSE_MS = 1000;
const GONE: readonly string[] = ['restarting', 'autorestarting', 'dead'];
const EARLIER = 'cw-earlier-kernel';

export class StaleMarks {
  private readonly log = new RunLog();
  private readonly marks = new Map<Cell, HTMLElement>();
  private readonly followed = new WeakSet<Cell['model']>();
  private stale: readonly StaleCell[] = [];
  private asked = '';
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly panel: NotebookPanel,
    private readonly channel: Channel,
    private readonly preferences: () => Preferences
  ) {
    const { content, context, sessionContext } = panel;
    void context.ready.then(() => {
      if (!panel.isDisposed) {
        this.log.begin(this.seen());
        this.followCells();
        content.modelContentChanged.connect(this.lookLater);
      }
    });
    NotebookActions.executionScheduled.connect(this.scheduled);
    sessionContext.statusChanged.connect((_, status) => {
      if (GONE.includes(status)) {
        this.log.restart();
        this.lookLater();
      }
    });
    panel.disposed.connect(() => {
      NotebookActions.executionScheduled.disconnect(this.scheduled);
      clearTimeout(this.timer);
    });
  }

  /** Runs the cell if it was edited since it ran, and everything that depends on it. */
  async runDependents(cell: Cell): Promise<void> {
    const { id } = cell.model;
    const found = await staleCells(this.channel, this.panel.context.localPath, id);
    const itself = this.isUpToDate(id) ? [] : [id];
    runInOrder(this.panel, [...itself, ...found.map(({ cell_id }) => cell_id)]);
  }

  readonly lookLater = (): void => {
    this.followCells();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), PAUSE_MS);
  };

  private readonly scheduled = (
    _: unknown,
    { notebook, cell }: { notebook: unknown; cell: Cell }
  ): void => {
    if (notebook === this.panel.content) {
      this.log.schedule(cell.model.id, cell.model.sharedModel.source);
    }
  };

  /** The execution count tells that a cell ran, whoever ran it. */
  private followCells(): void {
    for (const { model } of this.panel.content.widgets) {
      if (model.type === 'code' && !this.followed.has(model)) {
        this.followed.add(model);
        model.stateChanged.connect((_, { name, newValue }) => {
          if (name === 'executionCount' && typeof newValue === 'number') {
            this.log.ran(model.id, newValue, model.sharedModel.source);
            this.lookLater();
          }
        });
      }
    }
  }

  private async look(): Promise<void> {
    if (this.panel.isDisposed) {
      return;
    }
    if (!this.preferences().staleMarks) {
      this.show([]);
      return;
    }
    const times = this.log.times(this.seen());
    if (!mayBeStale(times)) {
      this.asked = '';
      this.show([]);
      return;
    }
    const question = JSON.stringify(times);
    if (question === this.asked) {
      this.show(this.stale);
      return;
    }
    this.asked = question;
    const found = await this.ask(times).catch(() => []); // not Python, or nobody can tell
    if (question === this.asked && !this.panel.isDisposed) {
      this.show(found);
    }
  }

  private async ask(cells: readonly CellTimes[]): Promise<StaleCell[]> {
    return (await this.channel.request<Page<StaleCell>>('POST', 'stale-cells', { cells })).items;
  }

  private seen(): SeenCell[] {
    return this.panel.content.widgets
      .filter(({ model }) => model.type === 'code')
      .map(({ model }) => ({
        id: model.id,
        source: model.sharedModel.source,
        execution_count:
          (model as Cell['model'] & { executionCount?: number | null }).executionCount ?? null
      }));
  }

  private show(stale: readonly StaleCell[]): void {
    this.stale = stale;
    const isOn = this.preferences().staleMarks;
    const known = new Map(stale.map(one => [one.cell_id, one]));
    for (const cell of this.panel.content.widgets) {
      const found = known.get(cell.model.id);
      if (!cell.toggleClass(EARLIER, isOn && this.log.isOfEarlierKernel(cell.model.id))) {
        cell.promptNode?.removeAttribute('title');
      }
      if (found !== undefined) {
        this.mark(cell, found);
      } else if (cell.hasClass(EARLIER)) {
        this.sayEarlier(cell);
      } else {
        this.unmark(cell);
      }
    }
    for (const cell of this.marks.keys()) {
      if (cell.isDisposed) {
        this.marks.delete(cell);
      }
    }
  }

  private mark(cell: Cell, { name, changed_id }: StaleCell): void {
    const node = this.nodeAt(cell);
    const why = t('Stale: %1 has changed since this cell ran.', oneLine(name, 60));
    const what = t('Run this cell and what depends on it');
    render(
      <button
        type="button"
        class="cw-stale-mark"
        title={`${why} ${what}.`}
        aria-label={`${why} ${what}.`}
        onClick={() => void this.runStale(cell, changed_id)}
      >
        ↻
      </button>,
      node
    );
  }

  private sayEarlier(cell: Cell): void {
    const words = t('Not run since the kernel restarted.');
    render(<span class="cw-sr">{words}</span>, this.nodeAt(cell));
    cell.promptNode?.setAttribute('title', words);
  }

  private unmark(cell: Cell): void {
    const node = this.marks.get(cell);
    if (node !== undefined) {
      const hadFocus = node.contains(document.activeElement);
      render(null, node);
      node.remove();
      this.marks.delete(cell);
      if (hadFocus) {
        cell.node.focus();
      }
    }
  }

  private nodeAt(cell: Cell): HTMLElement {
    const known = this.marks.get(cell);
    if (known !== undefined) {
      return known;
    }
    const node = document.createElement('div');
    node.className = 'cowork-root cw-stale-place';
    captureCardKeys(node);
    this.marks.set(cell, node);
    void cell.ready.then(() => {
      if (this.marks.get(cell) === node && !cell.isDisposed) {
        cell.node.querySelector(':scope > .jp-Cell-inputWrapper')?.append(node);
      }
    });
    return node;
  }

  /** Includes the edited cell, which must run first. */
  private async runStale(cell: Cell, cause: string): Promise<void> {
    const found = await staleCells(this.channel, this.panel.context.localPath, cell.model.id);
    const edited = this.isUpToDate(cause) ? [] : [cause];
    runInOrder(this.panel, [...edited, cell.model.id, ...found.map(({ cell_id }) => cell_id)]);
  }

  /** Whether the cell ran in this kernel with its current source. */
  private isUpToDate(cellId: string): boolean {
    const own = this.log.times(this.seen()).find(({ id }) => id === cellId);
    return own !== undefined && own.ran !== null && own.ran === own.changed;
  }
}
