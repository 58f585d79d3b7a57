import type { Notebook } from '@jupyterlab/notebook';

/** Scrolls to a cell and activates it, if it still exists. */
export function showCell(notebook: Notebook, cellId: string): void {
  const index = notebook.widgets.findIndex(({ model }) => model.id === cellId);
  if (index >= 0) {
    notebook.deselectAll();
    notebook.activeCellIndex = index;
    notebook.scrollToItem(index, 'center').catch(() => undefined); // somebody scrolled elsewhere
  }
}
