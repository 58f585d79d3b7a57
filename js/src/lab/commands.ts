import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { INotebookTracker } from '@jupyterlab/notebook';

import { roleLook } from '../shared/roles';
import { t } from '../shared/translate';
import { CommandIDs } from './commandIds';
import { notifyConnection } from './connectionNotification';
import type { ICoworkModel } from './coworkModel';
import { insertMagicCell, notebookForCell, type Magic } from './magicCell';
import { PANEL_ID } from './panel';
import { openRoleMenu } from './roleMenu';

/** Everything a user can do from the palette, a menu or a shortcut. */
export function addCommands(app: JupyterFrontEnd, model: ICoworkModel, notebooks: INotebookTracker | null): void {
  const { commands, shell } = app;

  function addInsert(id: string, magic: Magic, label: () => string, caption: () => string): void {
    commands.addCommand(id, {
      label,
      caption,
      isEnabled: () => notebookForCell(notebooks) !== null,
      execute: async () => {
        const panel = notebookForCell(notebooks);
        if (panel !== null) {
          await insertMagicCell(panel, magic, () => shell.activateById(panel.id));
        }
      }
    });
  }

  commands.addCommand(CommandIDs.openPanel, {
    label: () => t('Show Cowork Panel'),
    execute: () => shell.activateById(PANEL_ID)
  });
  addInsert(
    CommandIDs.insertPlan,
    '%%plan',
    () => t('Insert a %1 Cell', '%%plan'),
    () => t('Say what you want in it; running it gives you a plan to review')
  );
  addInsert(
    CommandIDs.insertAct,
    '%%act',
    () => t('Insert an %1 Cell', '%%act'),
    () => t('Say what to do in it, or leave it empty to execute the current plan')
  );
  commands.addCommand(CommandIDs.chooseRole, {
    label: () => t('Choose Role…'),
    caption: () => t('The role that new conversations start in'),
    execute: () => openRoleMenu(commands, visiblePill())
  });
  commands.addCommand(CommandIDs.setRole, {
    label: args => {
      const role = roleLook(String(args['role'] ?? ''), model.roles);
      return `${role.label}: ${role.description}`;
    },
    isToggleable: true,
    isToggled: args => args['role'] === model.role,
    execute: args => (typeof args['role'] === 'string' ? model.chooseRole(args['role']) : undefined)
  });
  commands.addCommand(CommandIDs.checkConnection, {
    label: () => t('Check Model Connection'),
    execute: () => notifyConnection(model.refresh(), () => shell.activateById(PANEL_ID))
  });
}

/** The palette shows what is useful without arguments. */
export function addToPalette(palette: ICommandPalette): void {
  const { openPanel, insertPlan, insertAct, chooseRole, checkConnection } = CommandIDs;
  for (const command of [openPanel, insertPlan, insertAct, chooseRole, checkConnection]) {
    palette.addItem({ command, category: t('Cowork') });
  }
}

/** A command has no pill of its own; the menu opens at the one in the status bar, if that is shown. */
function visiblePill(): HTMLElement | null {
  const pill = document.querySelector<HTMLElement>('.cw-status-pill button');
  return pill !== null && pill.getClientRects().length > 0 ? pill : null;
}
