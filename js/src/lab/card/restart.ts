/** After a rollback the kernel still holds state that the files no longer have. */

import type { ISessionContext } from '@jupyterlab/apputils';
import { NotebookActions, type INotebookTracker } from '@jupyterlab/notebook';

/** Returns a function that restarts the notebook's kernel; undefined if there is none. */
export type RestartAt = (node: HTMLElement) => (() => Promise<void>) | undefined;

export function restartAt(
  notebooks: INotebookTracker,
  dialogs: ISessionContext.IDialogs
): RestartAt {
  return node => {
    const panel = notebooks.find(one => one.node.contains(node));
    return (
      panel &&
      (async () => {
        const { content, sessionContext } = panel;
        // Only cells above: the card's own cell would replace the card. Looked up now, as cells
        // move.
        const here = content.widgets.findIndex(cell => cell.node.contains(node));
        const above = content.widgets.slice(0, Math.max(here, 0));
        if ((await dialogs.restart(sessionContext)) && above.length > 0) {
          await NotebookActions.runCells(content, above, sessionContext, dialogs);
        }
      })
    );
  };
}
