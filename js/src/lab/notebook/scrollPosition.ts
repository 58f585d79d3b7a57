/** Changes a notebook without moving what the user looks at or types in. */

import type { Notebook } from '@jupyterlab/notebook';

import type { Cell } from './cellCommands';

/** Lab lays out new cells over several frames. */
const FRAMES = 6;

export function keepScrollPosition(notebook: Notebook, change: () => void): void {
  const anchor = anchorOf(notebook);
  const top = anchor?.node.getBoundingClientRect().top ?? 0;
  const typing = typingIn(notebook);
  change();
  typing?.();
  if (anchor !== null) {
    const scrolled = new AbortController();
    notebook.outerNode.addEventListener('wheel', () => scrolled.abort(), {
      passive: true,
      signal: scrolled.signal
    });
    holdAt(notebook, anchor, top, FRAMES, scrolled);
  }
}

/** The cell to keep in place: the active one if visible, else the first visible one. */
function anchorOf(notebook: Notebook): Cell | null {
  const view = notebook.outerNode.getBoundingClientRect();
  const isSeen = (cell: Cell): boolean => {
    const { top, bottom, height } = cell.node.getBoundingClientRect();
    return height > 0 && bottom > view.top && top < view.bottom;
  };
  const active = notebook.activeCell;
  if (active !== null && isSeen(active)) {
    return active;
  }
  return notebook.widgets.find(isSeen) ?? null;
}

/** Until layout has settled, or the user scrolls. */
function holdAt(
  notebook: Notebook,
  anchor: Cell,
  top: number,
  frames: number,
  scrolled: AbortController
): void {
  if (anchor.isDisposed || !anchor.isAttached || scrolled.signal.aborted) {
    return;
  }
  const moved = anchor.node.getBoundingClientRect().top - top;
  if (Math.abs(moved) >= 1) {
    notebook.outerNode.scrollTop += moved;
  }
  if (frames > 0) {
    requestAnimationFrame(() => holdAt(notebook, anchor, top, frames - 1, scrolled));
  } else {
    scrolled.abort();
  }
}

/** Lab moves a cell by recreating it; restores focus and cursor, so that typing can continue. */
function typingIn(notebook: Notebook): (() => void) | null {
  const cell = notebook.activeCell;
  if (cell === null || notebook.mode !== 'edit' || !cell.editor?.hasFocus()) {
    return null;
  }
  const { id } = cell.model;
  const selection = cell.editor.getSelection();
  return () => {
    const index = notebook.widgets.findIndex(one => one.model.id === id);
    const now = notebook.widgets[index];
    if (now === undefined || now === cell) {
      return;
    }
    notebook.activeCellIndex = index;
    notebook.mode = 'edit';
    void now.ready.then(() => {
      now.editor?.focus();
      now.editor?.setSelection(selection);
    });
  };
}
