import type { Notebook } from '@jupyterlab/notebook';

/** Brings a cell into view and makes it the active one; a cell that is gone is not looked for. */
export function showCell(notebook: Notebook, cellId: string): void {
  const index = notebook.widgets.findIndex(({ model }) => model.id === cellId);
  if (index >= 0) {
    notebook.deselectAll();
    notebook.activeCellIndex = index;
    notebook.scrollToItem(index, 'center').catch(() => undefined); // somebody scrolled elsewhere
  }
}
