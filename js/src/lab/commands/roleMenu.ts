import { Dialog, showDialog } from '@jupyterlab/apputils';
import { CoworkError } from '../../shared/channel/channel';
import { t } from '../../shared/text/translate';
import type { ICurrentConversation } from '../model/currentConversation';
import { MenuSvg } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';

import { knownRoles } from '../../shared/role/roles';
import { CommandIDs } from './ids';
import type { ICoworkModel } from '../model/coworkModel';

/**
 * Opens at the clicked pill, or near the top of the window. `command` runs with the chosen role.
 */
export async function openRoleMenu(
  model: ICoworkModel,
  commands: CommandRegistry,
  anchor: HTMLElement | null,
  command: string = CommandIDs.setRole
): Promise<void> {
  await model.learnRoles(); // what is declared and trusted may have changed
  if (knownRoles().length === 0) {
    return;
  }
  const menu = new MenuSvg({ commands });
  for (const { name } of knownRoles()) {
    menu.addItem({ command, args: { role: name } });
  }
  // Lumino closes the menu before it runs the command; disposing at once would lose it.
  menu.aboutToClose.connect(() => {
    requestAnimationFrame(() => menu.dispose());
    anchor?.focus();
  });
  const { x, y } = placeFor(anchor);
  menu.open(x, y);
  menu.activeIndex = menu.items.findIndex(item => item.isToggled);
}

/**
 * Lumino opens the menu upwards if there is no room below: in the status bar it must not cover the
 * pill.
 */
function placeFor(anchor: HTMLElement | null): { x: number; y: number } {
  if (anchor === null) {
    return { x: window.innerWidth / 2 - 200, y: window.innerHeight / 5 };
  }
  const box = anchor.getBoundingClientRect();
  return { x: box.left, y: box.top > window.innerHeight / 2 ? box.top : box.bottom };
}

/** Switches the role of the current conversation; asks first if that would stop a running job. */
export async function switchRole(
  currentConversation: ICurrentConversation,
  role: string,
  label: string
): Promise<void> {
  try {
    await currentConversation.switchRole(role, false);
  } catch (error) {
    if (!(error instanceof CoworkError) || error.code !== 'confirmation_required') {
      throw error;
    }
    const { button } = await showDialog({
      title: t('Switch role'),
      body: t('A job is running; switching to %1 stops it.', label),
      buttons: [
        Dialog.cancelButton({ label: t('Keep running') }),
        Dialog.warnButton({ label: t('Switch and stop') })
      ]
    });
    if (button.accept) {
      await currentConversation.switchRole(role, true);
    }
  }
}
