import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import { t } from '../../../shared/text/translate';
import { ICoworkModel } from '../../model/coworkModel';
import { addCellCommand, followNotebooks } from '../../notebook/cellCommands';
import type { Part } from '../../part';
import type { StaleMarks } from './staleMarks';

/** Loaded with the first notebook. */
const marks: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:stale-marks',
  description: 'Marks cells whose inputs have changed since they ran.',
  autoStart: true,
  requires: [INotebookTracker, ICoworkModel],
  optional: [ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    cowork: ICoworkModel,
    palette: ICommandPalette | null
  ) => {
    const followed = new Map<NotebookPanel, StaleMarks>();
    followNotebooks(app, tracker, async panel => {
      const { StaleMarks } = await import('./staleMarks');
      followed.set(panel, new StaleMarks(panel, cowork.channel, () => cowork.preferences));
      panel.disposed.connect(() => followed.delete(panel));
    });
    cowork.changed.connect(() => followed.forEach(one => one.lookLater()));
    addCellCommand(app, tracker, cowork, palette, {
      id: 'cowork:run-dependents',
      label: () => t('Run What Depends on This'),
      preference: 'staleMarks',
      can: cell => cell.model.type === 'code',
      run: (panel, cell) => followed.get(panel)?.runDependents(cell)
    });
  }
};

/** Cells that are out of date. */
export const stale: Part = { plugins: [marks] };
