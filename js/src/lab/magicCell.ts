/** Puts a cell with one of our magics into the notebook, ready to type in. */

import { NotebookActions, type INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

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
