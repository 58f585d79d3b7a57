import { Dialog, showDialog } from '@jupyterlab/apputils';

import { CoworkError } from '../shared/channel';
import { t } from '../shared/translate';
import type { IInView } from './inView';

/**
 * Switches the role of the conversation in view. Where a job runs, that stops it, so the user is
 * asked first.
 */
export async function switchRole(inView: IInView, role: string, label: string): Promise<void> {
  try {
    await inView.switchRole(role, false);
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
      await inView.switchRole(role, true);
    }
  }
}
