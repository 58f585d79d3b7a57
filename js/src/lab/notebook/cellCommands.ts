/** What is offered right at the cells of a notebook: where, and as which commands. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { t } from '../../shared/text/translate';
import type { ICoworkModel, Preferences } from '../model/coworkModel';
import { coworkIcon } from '../ui/icon';
import { isOnServer } from './drives';
import { notebookForCell } from './insertCell';

export type Cell = NotebookPanel['content']['widgets'][number];

/** Follows each notebook of this server, once it is there. */
export function followNotebooks(
  { serviceManager: { contents } }: JupyterFrontEnd,
  tracker: INotebookTracker,
  follow: (panel: NotebookPanel) => Promise<void>
): void {
  const meet = async (panel: NotebookPanel): Promise<void> => {
    await panel.context.ready;
    if (isOnServer(contents, panel)) {
      await follow(panel);
    }
  };
  tracker.widgetAdded.connect((_, panel) => void meet(panel));
  tracker.forEach(panel => void meet(panel));
}

/** A command for the active cell. */
export interface CellCommand {
  id: string;
  label: () => string;
  preference: keyof Preferences;
  can?: (cell: Cell) => boolean;
  run: (panel: NotebookPanel, cell: Cell) => void | Promise<void>;
}

export function addCellCommand(
  { commands }: JupyterFrontEnd,
  tracker: INotebookTracker,
  cowork: ICoworkModel,
  palette: ICommandPalette | null,
  { id, label, preference, can, run }: CellCommand
): void {
  const isOn = (): boolean => {
    const cell = notebookForCell(tracker)?.content.activeCell ?? null;
    return (
      cowork.preferences[preference] === true && cell !== null && (can === undefined || can(cell))
    );
  };
  commands.addCommand(id, {
    label,
    icon: args => (args['isPalette'] === true ? undefined : coworkIcon),
    isEnabled: isOn,
    isVisible: isOn,
    execute: async () => {
      const panel = notebookForCell(tracker);
      const cell = panel?.content.activeCell;
      if (panel && cell && isOn()) {
        await cell.ready;
        await run(panel, cell);
      }
    }
  });
  palette?.addItem({ command: id, category: t('Cowork'), args: { isPalette: true } });
}
