import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import { ICoworkModel } from '../../model/coworkModel';
import { isOnServer } from '../../notebook/drives';
import type { Part } from '../../part';
import type { DataWatch } from './dataWatch';

/** Loaded with the first notebook. */
const dataWatch: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:watch-data',
  description: 'Shows what cells that the user runs did to tables, once switched on.',
  autoStart: true,
  requires: [INotebookTracker, ICoworkModel],
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker, cowork: ICoworkModel) => {
    const { contents } = app.serviceManager;
    const panels = (): NotebookPanel[] =>
      tracker.filter(panel => !panel.isDisposed && isOnServer(contents, panel));
    let watch: Promise<DataWatch> | null = null;
    const follow = async (panel: NotebookPanel): Promise<void> => {
      watch ??= import('./dataWatch').then(
        ({ DataWatch }) => new DataWatch(cowork.channel, panels)
      );
      (await watch).addSwitch(panel);
    };
    tracker.widgetAdded.connect((_, panel) => void follow(panel));
    tracker.forEach(panel => void follow(panel));
  }
};

/** Says what cells did to tables. */
export const watch: Part = { plugins: [dataWatch] };
