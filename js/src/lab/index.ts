/**
 * Lab's entry point. Small plugins, so that a part can be disabled, or missing where the host lacks
 * its token.
 */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator } from '@jupyterlab/translation';

import { sharedSocket } from '../shared/channel/pageSocket';
import { ServerChannel } from '../shared/channel/serverChannel';
import { setTranslation, t } from '../shared/text/translate';
import { cards } from './card/renderer';
import { CommandIDs } from './commands/ids';
import { addCommands, addToPalette } from './commands/commands';
import { CoworkModel, ICoworkModel } from './model/coworkModel';
import { ActivityFeed, WakingChannel } from './model/activityFeed';
import { notebookBridge } from './notebook/bridge';
import { magics } from './notebook/magics';
import { parts } from './parts';
import { panel, place, IPanelState } from './panel/plugin';
import { followView } from './model/currentConversation';
import { loadTranslation } from './locale/translation';
import { bindPreferences } from './model/preferences';
import { openRoleMenu } from './commands/roleMenu';
import { StatusPill } from './ui/statusPill';

/** Named after the settings schema, which Lab looks up by plugin id. */
const PLUGIN_ID = 'cowork-jupyter:plugin';

const model: JupyterFrontEndPlugin<ICoworkModel> = {
  id: PLUGIN_ID,
  description: 'The state that the parts of Cowork share, and its settings.',
  autoStart: true,
  provides: ICoworkModel,
  optional: [ISettingRegistry, ITranslator],
  activate: async (
    app: JupyterFrontEnd,
    settings: ISettingRegistry | null,
    translator: ITranslator | null
  ) => {
    if (translator !== null) {
      setTranslation(await loadTranslation(translator));
    }
    const { serverSettings } = app.serviceManager;
    const feed = new ActivityFeed(sharedSocket(serverSettings));
    const channel = new WakingChannel(new ServerChannel(serverSettings), () => feed.listen());
    const cowork = new CoworkModel(channel, feed);
    if (settings !== null) {
      bindPreferences(cowork, settings, PLUGIN_ID).catch((error: unknown) => {
        console.warn('Cowork keeps its settings only for this page, as they do not load.', error);
      });
    }
    return cowork;
  }
};

const commands: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:commands',
  description: 'The commands of Cowork, and their places in the palette and the launcher.',
  autoStart: true,
  requires: [ICoworkModel, IPanelState],
  optional: [INotebookTracker, ICommandPalette, IDefaultFileBrowser, ILauncher],
  activate: (
    app: JupyterFrontEnd,
    cowork: ICoworkModel,
    where: IPanelState,
    notebooks: INotebookTracker | null,
    palette: ICommandPalette | null,
    files: IDefaultFileBrowser | null,
    launcher: ILauncher | null
  ) => {
    const selectedFile = (): string | null => {
      const chosen = files === null ? [] : [...files.selectedItems()];
      return chosen.length === 1 && chosen[0] && chosen[0].type !== 'directory'
        ? chosen[0].path
        : null;
    };
    addCommands(app, { model: cowork, place: where, notebooks, selectedFile });
    if (palette !== null) {
      addToPalette(palette);
    }
    launcher?.add({
      command: CommandIDs.newConversation,
      category: t('Other'),
      args: { isLauncher: true },
      rank: 10
    });
    const enabledMayChange = (): void => {
      app.commands.notifyCommandChanged(CommandIDs.insertPlan);
      app.commands.notifyCommandChanged(CommandIDs.insertAct);
      app.commands.notifyCommandChanged(CommandIDs.insertAsk);
    };
    notebooks?.currentChanged.connect(enabledMayChange);
    followView(cowork.currentConversation, where, notebooks);
    cowork.changed.connect(() => app.commands.notifyCommandChanged(CommandIDs.setRole));
  }
};

const status: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:status',
  description:
    'The role of the conversation in view and what waits for the user, in the status bar.',
  autoStart: true,
  requires: [ICoworkModel],
  optional: [IStatusBar],
  activate: (app: JupyterFrontEnd, cowork: ICoworkModel, bar: IStatusBar | null) => {
    bar?.registerStatusItem('cowork-jupyter:role', {
      item: new StatusPill(
        cowork,
        pill => void openRoleMenu(cowork, app.commands, pill, CommandIDs.switchRole),
        () => void app.commands.execute(CommandIDs.showInbox)
      ),
      align: 'left',
      rank: 100
    });
  }
};

export default [
  model,
  cards(parts),
  place,
  commands,
  panel(parts),
  status,
  notebookBridge,
  magics,
  ...parts.flatMap(({ plugins = [] }) => plugins)
];
