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
 * Below the cell whose output this node is; undefined where there is no such cell, or it may not be
 * changed.
 */
export function insertBelow(
  notebooks: INotebookTracker,
  node: HTMLElement
): InsertCell | undefined {
  const notebook = notebooks.find(one => one.node.contains(node))?.content;
  if (notebook === undefined || notebook.model?.readOnly !== false) {
    return undefined;
  }
  // Looked up when it is clicked, as cells move.
  return async source =>
    insertAt(notebook, notebook.widgets.findIndex(cell => cell.node.contains(node)) + 1, source);
}

/** Below the active cell of the notebook that is looked at; undefined where there is none. */
export function insertBelowActive(notebooks: INotebookTracker | null): InsertCell | undefined {
  const notebook = notebookForCell(notebooks)?.content;
  return notebook && (async source => insertAt(notebook, notebook.activeCellIndex + 1, source));
}

/** The next keys are for the new cell, wherever the button was: Ctrl+Enter runs it. */
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

/** The notebook that would get the cell, or null: none is open, or it may not be changed. */
export function notebookForCell(tracker: INotebookTracker | null): NotebookPanel | null {
  const panel = tracker?.currentWidget ?? null;
  return panel !== null && panel.content.model?.readOnly === false ? panel : null;
}

/**
 * Below the active cell; the cursor waits on the line under the magic. `bringToFront` activates the
 * notebook.
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
  // Activating puts the notebook into command mode, some messages later. Edit mode has to come
  // after that, or the user's first letters would be taken for shortcuts.
  await afterPendingMessages();
  notebook.mode = 'edit';
  await cell?.ready;
  cell?.editor?.focus();
  cell?.editor?.setCursorPosition({ line: 1, column: 0 });
}

function afterPendingMessages(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve));
}
