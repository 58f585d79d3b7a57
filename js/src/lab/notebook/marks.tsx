/** Marks on cells that the agent has changed: what happened, with Accept and Revert in place. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import { render } from 'preact';

import { Button } from '../../shared/Button';
import { t } from '../../shared/translate';
import type { Edit } from './edits';
import { keepSteady } from './steady';

type Cell = NotebookPanel['content']['widgets'][number];

/** How long a change must have been on the screen of somebody who looks, to count as seen. */
const SEEN_MS = 2000;

const WORDS: Record<Edit['kind'], string> = {
  insert: 'Added by Cowork',
  edit: 'Changed by Cowork',
  move: 'Moved by Cowork',
  delete: 'Cowork deleted a cell here'
};

/** The marks of one notebook. A cell that the user changes is theirs, and is not marked any more. */
export class Marks {
  private readonly marks = new Map<string, Mark>();
  private ours = false;

  constructor(private readonly panel: NotebookPanel) {
    panel.content.modelContentChanged.connect(() => this.redraw());
    panel.disposed.connect(() => this.marks.forEach(mark => mark.dispose()));
  }

  /** Makes a change, and marks its cell with the way back that the change gives. */
  around(edit: Edit, change: () => () => void): void {
    const above = this.cellAbove(edit.cell_id);
    let revert: (() => void) | null = null;
    this.quietly(() => (revert = change()));
    if (edit.kind === 'delete') {
      this.drop(edit.cell_id);
    }
    const id = edit.kind === 'delete' ? (above ?? this.panel.content.widgets[0]?.model.id) : edit.cell_id;
    if (id !== undefined && revert !== null) {
      const mark = this.marks.get(id);
      if (mark === undefined) {
        this.marks.set(id, this.newMark(id, edit.kind, revert));
      } else {
        mark.add(edit.kind, revert);
      }
    }
    this.redraw();
    this.marks.forEach(one => one.draw());
  }

  private newMark(id: string, kind: Edit['kind'], revert: () => void): Mark {
    return new Mark(kind, revert, {
      accept: () => this.drop(id),
      acceptAll: () => [...this.marks.keys()].forEach(one => this.drop(one)),
      count: () => this.marks.size,
      revert: mark => {
        this.drop(id);
        keepSteady(this.panel.content, () => this.quietly(() => mark.goBack()));
      }
    });
  }

  private quietly(change: () => void): void {
    this.ours = true;
    try {
      change();
    } finally {
      this.ours = false;
    }
  }

  private drop(id: string): void {
    this.marks.get(id)?.dispose();
    this.marks.delete(id);
    this.marks.forEach(mark => mark.draw());
  }

  /** Cells come and go: a moved one is another widget, and one that is gone needs no mark. */
  private redraw(): void {
    if (this.ours) {
      return;
    }
    for (const [id, mark] of this.marks) {
      const cell = this.panel.content.widgets.find(one => one.model.id === id);
      if (cell === undefined) {
        this.drop(id);
      } else if (mark.cell !== cell) {
        mark.putOn(cell, () => {
          if (!this.ours) {
            this.drop(id);
          }
        });
      }
    }
  }

  private cellAbove(id: string): string | undefined {
    const { widgets } = this.panel.content;
    return widgets[widgets.findIndex(one => one.model.id === id) - 1]?.model.id;
  }
}

interface Choices {
  accept: () => void;
  acceptAll: () => void;
  count: () => number;
  revert: (mark: Mark) => void;
}

class Mark {
  cell: Cell | null = null;
  private readonly node = document.createElement('div');
  private readonly ways: (() => void)[];
  private observer: IntersectionObserver | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isInView = false;
  private changed: ((sender: unknown, change: unknown) => void) | null = null;
  private readonly look = (): void => this.watch();

  constructor(
    private kind: Edit['kind'],
    way: () => void,
    private readonly choices: Choices
  ) {
    this.ways = [way];
    this.node.className = 'cowork-root cw-cell-mark';
    window.addEventListener('focus', this.look);
    window.addEventListener('blur', this.look);
  }

  /** The cell was changed once more: it has to be seen again, and going back goes all the way. */
  add(kind: Edit['kind'], way: () => void): void {
    this.kind = this.kind === 'insert' ? 'insert' : kind;
    this.ways.push(way);
    this.cell?.addClass('cw-cell-unseen');
    this.watch();
    this.draw();
  }

  goBack(): void {
    this.ways.reverse().forEach(way => way());
  }

  putOn(cell: Cell, changed: () => void): void {
    this.leave();
    this.cell = cell;
    cell.addClass('cw-cell-changed');
    cell.addClass('cw-cell-unseen');
    // Running a cell changes it too, but only its source is what was marked.
    this.changed = (_, change) => {
      if ((change as { sourceChange?: unknown }).sourceChange !== undefined) {
        changed();
      }
    };
    cell.model.sharedModel.changed.connect(this.changed);
    void cell.ready.then(() => {
      if (this.cell === cell && !cell.isDisposed) {
        const input = cell.node.querySelector(':scope > .jp-Cell-inputWrapper');
        (input ?? cell.node.firstElementChild)?.after(this.node);
        this.draw();
      }
    });
    this.observer = new IntersectionObserver(([entry]) => {
      this.isInView = entry?.isIntersecting ?? false;
      this.watch();
    });
    this.observer.observe(cell.node);
  }

  draw(): void {
    const { accept, acceptAll, count, revert } = this.choices;
    render(
      <div class="cw-cell-mark-row" role="group" aria-label={t(WORDS[this.kind])}>
        <span>{t(WORDS[this.kind])}</span>
        <Button look="link" onClick={accept}>
          {t('Accept')}
        </Button>
        {count() > 1 && (
          <Button look="link" onClick={acceptAll}>
            {t('Accept all %1', String(count()))}
          </Button>
        )}
        <Button look="link" onClick={() => revert(this)}>
          {t('Revert')}
        </Button>
      </div>,
      this.node
    );
  }

  dispose(): void {
    this.leave();
    window.removeEventListener('focus', this.look);
    window.removeEventListener('blur', this.look);
    render(null, this.node);
  }

  /** Seen is what was on the screen for a while, of a window that somebody looks at. */
  private watch(): void {
    clearTimeout(this.timer);
    if (this.isInView && document.hasFocus()) {
      this.timer = setTimeout(() => this.cell?.removeClass('cw-cell-unseen'), SEEN_MS);
    }
  }

  private leave(): void {
    clearTimeout(this.timer);
    this.observer?.disconnect();
    this.node.remove();
    if (this.cell !== null && !this.cell.isDisposed) {
      this.cell.removeClass('cw-cell-changed');
      this.cell.removeClass('cw-cell-unseen');
      if (this.changed !== null) {
        this.cell.model.sharedModel.changed.disconnect(this.changed);
      }
    }
    this.cell = null;
  }
}
