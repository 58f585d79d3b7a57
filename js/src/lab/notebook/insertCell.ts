/** Inserts cells: code from an answer, or one of our magics. */

import {
  NotebookActions,
  type INotebookTracker,
  type Notebook,
  type NotebookPanel
} from '@jupyterlab/notebook';

import type { CardHost } from '../../shared/card/host';

type InsertCell = NonNullable<CardHost['insertCell']>;

/**
 * Inserts below the cell that contains this node; undefined if there is none, or it is read-only.
 */
export function insertBelow(
  notebooks: INotebookTracker,
  node: HTMLElement
): InsertCell | undefined {
  const notebook = notebooks.find(one => one.node.contains(node))?.content;
  if (notebook === undefined || notebook.model?.readOnly !== false) {
    return undefined;
  }
  // Looked up on click, as cells move.
  return async source =>
    insertAt(notebook, notebook.widgets.findIndex(cell => cell.node.contains(node)) + 1, source);
}

/** Undefined if no notebook is open. */
export function insertBelowActive(notebooks: INotebookTracker | null): InsertCell | undefined {
  const notebook = notebookForCell(notebooks)?.content;
  return notebook && (async source => insertAt(notebook, notebook.activeCellIndex + 1, source));
}

/** Focuses the new cell, wherever the button was, so that Ctrl+Enter runs it. */
async function insertAt(notebook: Notebook, index: number, source: string): Promise<void> {
  notebook.model?.sharedModel.insertCell(index, {
    cell_type: 'code',
    source,
    metadata: { trusted: true }
  });
  notebook.deselectAll();
  notebook.activeCellIndex = index;
  await notebook.scrollToItem(index, 'smart').catch(() => undefined); // somebody scrolled elsewhere
  notebook.activate();
}

export type Magic = '%%plan' | '%%act' | '%%ask';

/** The current notebook, or null if none is open or it is read-only. */
export function notebookForCell(tracker: INotebookTracker | null): NotebookPanel | null {
  const panel = tracker?.currentWidget ?? null;
  return panel !== null && panel.content.model?.readOnly === false ? panel : null;
}

/**
 * Inserts below the active cell, with the cursor on the line under the magic. `bringToFront`
 * activates the notebook.
 */
export async function insertMagicCell(
  panel: NotebookPanel,
  magic: Magic,
  bringToFront: () => void
): Promise<void> {
  const notebook = panel.content;
  NotebookActions.insertBelow(notebook);
  if (notebook.activeCell?.model.type !== 'code') {
    // The user's default cell type may be Markdown.
    NotebookActions.changeCellType(notebook, 'code');
  }
  const cell = notebook.activeCell;
  cell?.model.sharedModel.setSource(`${magic}\n`);
  bringToFront();
  // Activating switches to command mode, some messages later. Edit mode must come after that, or
  // the user's first letters would be taken for shortcuts.
  await afterPendingMessages();
  notebook.mode = 'edit';
  await cell?.ready;
  cell?.editor?.focus();
  cell?.editor?.setCursorPosition({ line: 1, column: 0 });
}

function afterPendingMessages(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve));
}
