/** Lab's entry: small plugins, so that a part can be switched off or is missing where the host has no place for it. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator } from '@jupyterlab/translation';

import { ServerChannel } from '../shared/serverChannel';
import { setTranslate } from '../shared/translate';
import { cards } from './cardRenderer';
import { CommandIDs } from './commandIds';
import { addCommands, addToPalette } from './commands';
import { CoworkModel, ICoworkModel } from './coworkModel';
import { notebookForCell } from './magicCell';
import { CoworkPanel } from './panel';
import { openRoleMenu } from './roleMenu';
import { keepRoleInSettings } from './roleSetting';
import { StatusPill } from './statusPill';

/** The settings schema has this plugin's name, so it is the one that reads them. */
const PLUGIN_ID = 'cowork-jupyter:plugin';

const model: JupyterFrontEndPlugin<ICoworkModel> = {
  id: PLUGIN_ID,
  description: 'The state that the parts of Cowork share, and its settings.',
  autoStart: true,
  provides: ICoworkModel,
  optional: [ISettingRegistry, ITranslator],
  activate: (app: JupyterFrontEnd, settings: ISettingRegistry | null, translator: ITranslator | null) => {
    if (translator !== null) {
      const bundle = translator.load('cowork_jupyter');
      setTranslate((text, ...values) => bundle.__(text, ...values));
    }
    const { baseUrl, token } = app.serviceManager.serverSettings;
    const cowork = new CoworkModel(new ServerChannel({ baseUrl, token }));
    if (settings !== null) {
      keepRoleInSettings(cowork, settings, PLUGIN_ID).catch((error: unknown) => {
        console.warn('Cowork keeps its role only for this page, as its settings do not load.', error);
      });
    }
    return cowork;
  }
};

const commands: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:commands',
  description: 'The commands of Cowork, and their places in the palette.',
  autoStart: true,
  requires: [ICoworkModel],
  optional: [INotebookTracker, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    cowork: ICoworkModel,
    notebooks: INotebookTracker | null,
    palette: ICommandPalette | null
  ) => {
    addCommands(app, cowork, notebooks);
    if (palette !== null) {
      addToPalette(palette);
    }
    const enabledMayChange = (): void => {
      app.commands.notifyCommandChanged(CommandIDs.insertPlan);
      app.commands.notifyCommandChanged(CommandIDs.insertAct);
    };
    notebooks?.currentChanged.connect(enabledMayChange);
    cowork.changed.connect(() => app.commands.notifyCommandChanged(CommandIDs.setRole));
  }
};

const panel: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:panel',
  description: 'The side panel of Cowork.',
  autoStart: true,
  requires: [ICoworkModel],
  optional: [INotebookTracker],
  activate: (app: JupyterFrontEnd, cowork: ICoworkModel, notebooks: INotebookTracker | null) => {
    const view = new CoworkPanel(cowork, {
      canInsert: () => notebookForCell(notebooks) !== null,
      insertPlan: () => void app.commands.execute(CommandIDs.insertPlan),
      chooseRole: pill => openRoleMenu(app.commands, pill)
    });
    notebooks?.currentChanged.connect(() => {
      view.update();
      // A notebook that has just been opened gets its model a little later.
      void notebooks.currentWidget?.context.ready.then(() => view.update());
    });
    app.shell.add(view, 'right', { rank: 1000, type: 'Cowork' });
  }
};

const status: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:status',
  description: 'The role of new conversations, in the status bar.',
  autoStart: true,
  requires: [ICoworkModel],
  optional: [IStatusBar],
  activate: (app: JupyterFrontEnd, cowork: ICoworkModel, bar: IStatusBar | null) => {
    bar?.registerStatusItem('cowork-jupyter:role', {
      item: new StatusPill(cowork, pill => openRoleMenu(app.commands, pill)),
      align: 'left',
      rank: 100
    });
  }
};

export default [model, cards, commands, panel, status];
