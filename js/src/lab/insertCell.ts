/** Makes a cell of code that stands in an answer. */

import type { INotebookTracker, Notebook } from '@jupyterlab/notebook';

import type { CardHost } from '../shared/host';
import { notebookForCell } from './magicCell';

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
