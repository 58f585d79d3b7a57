import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { roleLook } from '../../shared/role/roles';
import { t } from '../../shared/text/translate';
import { CommandIDs } from './ids';
import { switchRole, openRoleMenu } from './roleMenu';
import { notifyConnection } from './connectionNotification';
import type { ICoworkModel } from '../model/coworkModel';
import { coworkIcon } from '../ui/icon';
import { insertMagicCell, notebookForCell, type Magic } from '../notebook/insertCell';
import { PANEL_ID } from '../panel/panel';
import type { PanelState } from '../panel/panelState';

export interface CommandParts {
  model: ICoworkModel;
  place: PanelState;
  notebooks: INotebookTracker | null;
  /** Null unless exactly one file is selected in the file browser. */
  selectedFile(): string | null;
}

export function addCommands(app: JupyterFrontEnd, parts: CommandParts): void {
  addPanelCommands(app, parts);
  addCellCommands(app, parts.notebooks);
  addRoleCommands(app, parts);
}

function addPanelCommands(
  { commands, shell }: JupyterFrontEnd,
  { model, place, selectedFile }: CommandParts
): void {
  const show = (): void => shell.activateById(PANEL_ID);
  commands.addCommand(CommandIDs.openPanel, {
    label: () => t('Show Cowork Panel'),
    execute: ({ context }) => {
      show();
      if (typeof context === 'string') {
        place.open(context);
      }
    }
  });
  commands.addCommand(CommandIDs.newConversation, {
    label: args => (args['isLauncher'] === true ? t('Ask Cowork') : t('New Conversation')),
    caption: () => t('Ask the agent something, or say what to do'),
    icon: args => (args['isPalette'] === true ? undefined : coworkIcon),
    execute: () => {
      show();
      place.begin();
    }
  });
  commands.addCommand(CommandIDs.compose, {
    label: () => t('Write to Cowork'),
    execute: args => {
      show();
      const before = place.draft.trimEnd();
      place.begin(`${before && `${before} `}${String(args['text'] ?? '')}`);
    }
  });
  commands.addCommand(CommandIDs.showInbox, {
    label: () => t('Show What Is Waiting for You'),
    execute: () => {
      show();
      place.goBack();
    }
  });
  commands.addCommand(CommandIDs.planChange, {
    label: () => t('Plan a change to this file'),
    caption: () =>
      t('The planner reads it and proposes steps; nothing changes until you approve them'),
    icon: coworkIcon,
    isVisible: () => selectedFile() !== null,
    execute: () => {
      const path = selectedFile();
      if (path !== null) {
        show();
        place.begin(t('Plan a change to `%1`: ', path), 'planner');
      }
    }
  });
  commands.addCommand(CommandIDs.checkConnection, {
    label: () => t('Check Model Connection'),
    execute: () => notifyConnection(model.refresh(), show)
  });
  commands.addCommand(CommandIDs.showTour, {
    label: () => t('Show the Cowork tour'),
    execute: () => {
      show();
      place.showTour();
    }
  });
  commands.addCommand(CommandIDs.showShortcuts, {
    label: () => t('Show Cowork shortcuts'),
    execute: async () => (await import('./shortcuts')).showShortcuts(commands)
  });
}

function addCellCommands(
  { commands, shell }: JupyterFrontEnd,
  notebooks: INotebookTracker | null
): void {
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
  addInsert(
    CommandIDs.insertAsk,
    '%%ask',
    () => t('Insert an %1 Cell', '%%ask'),
    () => t('Continue the conversation in its current role; a planner revises the plan')
  );
}

function addRoleCommands({ commands }: JupyterFrontEnd, { model, place }: CommandParts): void {
  commands.addCommand(CommandIDs.chooseRole, {
    label: () => t('Choose Role…'),
    caption: () => t('Who gets the next message in the open conversation, or in a new one'),
    execute: () => openRoleMenu(model, commands, visiblePill(), CommandIDs.switchRole)
  });
  const label = (args: ReadonlyPartialJSONObject): string => {
    const role = roleLook(String(args['role'] ?? ''));
    return `${role.label}: ${role.description}`;
  };
  commands.addCommand(CommandIDs.switchRole, {
    label,
    isToggleable: true,
    isToggled: args =>
      args['role'] === (model.currentConversation.conversation?.role ?? model.preferences.role),
    execute: async args => {
      if (model.currentConversation.conversation === null) {
        await commands.execute(CommandIDs.setRole, args);
      } else if (typeof args['role'] === 'string') {
        await switchRole(model.currentConversation, args['role'], roleLook(args['role']).label);
      }
    }
  });
  commands.addCommand(CommandIDs.setRole, {
    label,
    isToggleable: true,
    isToggled: args => args['role'] === model.preferences.role,
    execute: async args => {
      if (typeof args['role'] === 'string') {
        place.forgetRole();
        await model.prefer({ role: args['role'] });
      }
    }
  });
}

/** Only commands that work without arguments. */
export function addToPalette(palette: ICommandPalette): void {
  for (const command of [
    CommandIDs.openPanel,
    CommandIDs.newConversation,
    CommandIDs.showInbox,
    CommandIDs.insertPlan,
    CommandIDs.insertAct,
    CommandIDs.insertAsk,
    CommandIDs.chooseRole,
    CommandIDs.checkConnection,
    CommandIDs.showTour,
    CommandIDs.showShortcuts
  ]) {
    palette.addItem({ command, category: t('Cowork'), args: { isPalette: true } });
  }
}

/** Anchor for the role menu: the status bar's pill, if visible. */
function visiblePill(): HTMLElement | null {
  const pill = document.querySelector<HTMLElement>('.cw-status-pill button');
  return pill !== null && pill.getClientRects().length > 0 ? pill : null;
}
