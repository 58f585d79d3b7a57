/** Connects the side panel to Lab. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { PageConfig } from '@jupyterlab/coreutils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Token } from '@lumino/coreutils';

import { labMarkdown } from '../card/markdown';
import { CommandIDs } from '../commands/ids';
import { ICoworkModel } from '../model/coworkModel';
import { download } from '../files/download';
import { drawnBy } from '../card/HostText';
import { notifyAboutInbox } from '../inbox/notifications';
import { insertBelowActive, notebookForCell } from '../notebook/insertCell';
import type { Part } from '../part';
import { CoworkPanel } from './panel';
import { PanelState } from './panelState';
import { openRoleMenu } from '../commands/roleMenu';

export type IPanelState = PanelState;
export const IPanelState = new Token<IPanelState>(
  'cowork-jupyter:IPanelPlace',
  'Where the user is in the side panel of Cowork.'
);

export const place: JupyterFrontEndPlugin<IPanelState> = {
  id: 'cowork-jupyter:place',
  description: 'Where the user is in the side panel, for commands that lead there.',
  autoStart: true,
  provides: IPanelState,
  activate: () => new PanelState()
};

export const panel = (parts: readonly Part[]): JupyterFrontEndPlugin<void> => ({
  id: 'cowork-jupyter:panel',
  description: 'The side panel of Cowork.',
  autoStart: true,
  requires: [ICoworkModel, IPanelState],
  optional: [INotebookTracker, IRenderMimeRegistry, IDefaultFileBrowser],
  activate: (
    app: JupyterFrontEnd,
    cowork: ICoworkModel,
    where: IPanelState,
    notebooks: INotebookTracker | null,
    rendermime: IRenderMimeRegistry | null,
    files: IDefaultFileBrowser | null
  ) => {
    const notebook = (): string | null => notebooks?.currentWidget?.context.path ?? null;
    const actions = {
      canInsert: () => notebookForCell(notebooks) !== null,
      insertCell: () => insertBelowActive(notebooks),
      insertPlan: () => void app.commands.execute(CommandIDs.insertPlan),
      chooseRole: (pill: HTMLElement) => void openRoleMenu(cowork, app.commands, pill),
      showShortcuts: () => void app.commands.execute(CommandIDs.showShortcuts),
      notebook,
      download: (path: string, fileName: string) =>
        download(app.serviceManager.serverSettings, path, fileName),
      pickFiles: files
        ? async (only: 'notebooks' | 'any') =>
            (await import('../files/pickFiles')).pickFiles(files.model.manager, only)
        : undefined
    };
    const view = new CoworkPanel(
      cowork,
      where,
      actions,
      rendermime === null ? {} : { Markdown: drawnBy(labMarkdown(rendermime)) },
      parts
    );
    notebooks?.currentChanged.connect(() => {
      view.update();
      // A notebook that was just opened gets its model later.
      void notebooks.currentWidget?.context.ready.then(() => view.update());
    });
    notebooks?.widgetAdded.connect(
      (_, panel) => void panel.context.pathChanged.connect(() => view.update())
    );
    app.shell.add(view, 'right', { rank: 1000, type: 'Cowork' });
    if (PageConfig.getOption('coworkRecord') === 'true') {
      cowork.feed.listen(); // with which the inbox is asked once
    }
    notifyAboutInbox(cowork, {
      isSeen: item =>
        document.visibilityState === 'visible' &&
        (view.isVisible || isInFront(notebooks, item.notebook)),
      showPanel: () => void app.commands.execute(CommandIDs.showInbox)
    });
  }
});

/** Whether the card's notebook is the current one. */
function isInFront(notebooks: INotebookTracker | null, path: string | null): boolean {
  const current = notebooks?.currentWidget;
  return path !== null && current?.isVisible === true && current.context.path === path;
}
