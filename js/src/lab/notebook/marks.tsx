/** Marks on cells that the agent changed, with Accept and Revert. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { StaleCell } from '../../shared/types';
import type { Cell } from './cellCommands';
import { CellMark } from './CellMark';
import {
  cellAbove,
  standing,
  type CellChange,
  type Decision,
  type PlacedChange
} from './cellChanges';
import { revertChange, type SavedCell } from './edits';
import { EditorDiff } from './editorDiff';
import { StaleNote } from './StaleCells';
import { keepScrollPosition } from './scrollPosition';

/** How long a change must be visible in a focused window to count as seen. */
const SEEN_MS = 2000;

/** Server calls of the marks. */
export interface CellServer {
  decide(ids: readonly string[], decision: Decision): Promise<unknown>;
  /** Cells that have run and depend on a changed one. */
  stale(notebook: string, cellId: string): Promise<StaleCell[]>;
}

/**
 * Marks of one notebook. The server knows which changes are pending; the document knows where they
 * are and whether the user has edited them since.
 */
export class Marks {
  private changes: readonly CellChange[] = [];
  private readonly marks = new Map<string, Mark>();
  /** Deleted or replaced cells with their outputs, if this page saw them go. */
  private readonly gone = new Map<string, SavedCell>();

  constructor(
    private readonly panel: NotebookPanel,
    private readonly server: CellServer
  ) {
    panel.content.modelContentChanged.connect(() => this.redraw());
    panel.disposed.connect(() => this.marks.forEach(mark => mark.dispose()));
  }

  show(changes: readonly CellChange[]): void {
    this.changes = changes;
    this.redraw();
  }

  /** The server keeps only the source of a cell. */
  keep(cellId: string, cell: SavedCell | null): void {
    if (cell !== null) {
      this.gone.set(cellId, cell);
    }
  }

  private redraw(): void {
    const { model } = this.panel.content;
    if (model === null || (this.changes.length === 0 && this.marks.size === 0)) {
      return;
    }
    const found = standing(this.changes, model.sharedModel);
    const places = new Map<Cell, PlacedChange[]>();
    for (const one of found) {
      const cell = this.panel.content.widgets.find(widget => widget.model.id === one.at);
      if (cell !== undefined) {
        places.set(cell, [...(places.get(cell) ?? []), one]);
      }
    }
    for (const [id, mark] of this.marks) {
      if (!places.has(mark.cell)) {
        mark.dispose();
        this.marks.delete(id);
      }
    }
    for (const [cell, standings] of places) {
      const { id } = cell.model;
      const mark = this.marks.get(id) ?? new Mark(cell);
      this.marks.set(id, mark);
      mark.draw(standings, one => (
        <CellMark
          key={one.change.id}
          standing={one}
          count={found.length}
          decide={decision => this.decide(one.change, decision)}
          stale={<StaleBelow panel={this.panel} change={one.change} server={this.server} />}
          acceptAll={() =>
            this.settle(
              found.map(each => each.change),
              'accept'
            )
          }
        />
      ));
    }
  }

  private async decide(change: CellChange, decision: Decision): Promise<void> {
    const notebook = this.panel.content.model?.sharedModel;
    if (decision === 'revert' && notebook !== undefined) {
      const above = cellAbove(this.changes, notebook, change);
      keepScrollPosition(this.panel.content, () =>
        revertChange(notebook, { ...change, above }, this.gone.get(change.cell_id))
      );
    }
    await this.settle([change], decision);
  }

  /** The server notifies every tab, but the tab that was clicked updates at once. */
  private async settle(changes: readonly CellChange[], decision: Decision): Promise<void> {
    const ids = changes.map(one => one.id);
    await this.server.decide(ids, decision);
    this.show(this.changes.filter(one => !ids.includes(one.id)));
  }
}

interface StaleBelowProps {
  panel: NotebookPanel;
  change: CellChange;
  server: CellServer;
}

/** Cells computed from the previous version; looked up once per source. */
function StaleBelow({ panel, change, server }: StaleBelowProps): preact.VNode {
  const [stale, setStale] = useState<readonly StaleCell[]>([]);
  const source = change.after?.source;
  useEffect(() => {
    let current = true;
    server.stale(panel.context.localPath, change.cell_id).then(
      found => current && setStale(found),
      () => undefined // the cell is gone, or nobody can tell
    );
    return () => {
      current = false;
    };
  }, [panel, server, change.cell_id, source]);
  return <StaleNote panel={panel} stale={stale} changed={change.cell_id} />;
}

/** Everything rendered at one cell. */
class Mark {
  private readonly node = document.createElement('div');
  private readonly observer: IntersectionObserver;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isInView = false;
  private diff: EditorDiff | null = null;
  private before: string | null = null;
  private seen = '';
  private readonly look = (): void => this.watch();

  constructor(readonly cell: Cell) {
    this.node.className = 'cowork-root cw-cell-mark';
    window.addEventListener('focus', this.look);
    window.addEventListener('blur', this.look);
    cell.addClass('cw-cell-changed');
    this.observer = new IntersectionObserver(([entry]) => {
      this.isInView = entry?.isIntersecting ?? false;
      this.watch();
    });
    this.observer.observe(cell.node);
    void cell.ready.then(() => {
      if (!cell.isDisposed && cell.hasClass('cw-cell-changed')) {
        const input = cell.node.querySelector(':scope > .jp-Cell-inputWrapper');
        (input ?? cell.node.firstElementChild)?.after(this.node);
        this.compare();
      }
    });
  }

  draw(standings: readonly PlacedChange[], drawn: (one: PlacedChange) => preact.VNode): void {
    render(standings.map(drawn), this.node);
    const changed = standings.find(one => one.kind === 'changed');
    this.before = changed?.change.before?.source ?? null;
    this.compare();
    // A change that changed again has to be seen again.
    const now = JSON.stringify(standings.map(one => [one.change.id, one.change.after]));
    if (now !== this.seen) {
      this.seen = now;
      this.cell.addClass('cw-cell-unseen');
      this.watch();
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.observer.disconnect();
    window.removeEventListener('focus', this.look);
    window.removeEventListener('blur', this.look);
    render(null, this.node);
    this.node.remove();
    this.before = null;
    if (!this.cell.isDisposed) {
      this.compare();
      this.cell.removeClass('cw-cell-changed');
      this.cell.removeClass('cw-cell-unseen');
    }
  }

  /** Adds the diff to the editor as soon as there is one. */
  private compare(): void {
    if (this.diff !== null && this.diff.before !== this.before) {
      this.diff.remove();
      this.diff = null;
    }
    const { editor } = this.cell;
    if (this.before !== null && this.diff === null && editor) {
      this.diff = new EditorDiff(editor, this.before);
    }
  }

  /** Counts a change as seen after it was visible for a while in a focused window. */
  private watch(): void {
    clearTimeout(this.timer);
    if (this.isInView && document.hasFocus()) {
      this.timer = setTimeout(() => this.cell.removeClass('cw-cell-unseen'), SEEN_MS);
    }
  }
}
