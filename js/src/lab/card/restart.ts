/** What a rollback leaves to the user: the kernel still knows what the files no longer say. */

import type { ISessionContext } from '@jupyterlab/apputils';
import { NotebookActions, type INotebookTracker } from '@jupyterlab/notebook';

/**
 * Gives a way to restart the kernel of the notebook that this node is part of; undefined where
 * there is none.
 */
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
        // Only what stands above: the card's own cell would put another card in its place. Looked
        // up now, as cells move.
        const here = content.widgets.findIndex(cell => cell.node.contains(node));
        const above = content.widgets.slice(0, Math.max(here, 0));
        if ((await dialogs.restart(sessionContext)) && above.length > 0) {
          await NotebookActions.runCells(content, above, sessionContext, dialogs);
        }
      })
    );
  };
}
