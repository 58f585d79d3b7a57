/**
 * Lab says so when something waits for the user and the user looks elsewhere. One message, kept up
 * to date.
 */

import { Notification } from '@jupyterlab/apputils';

import { t } from '../shared/translate';
import type { ICoworkModel } from './coworkModel';
import type { InboxItem } from './inbox';
import { sentence } from './panel/InboxSection';

export interface Sight {
  /**
   * Whether the user has this before their eyes already: in the panel, or as a card in the
   * notebook.
   */
  isSeen(item: InboxItem): boolean;
  showPanel(): void;
}

export function notifyOfInbox(model: ICoworkModel, sight: Sight): void {
  let shown: string | null = null;
  let told = new Set<string>();
  model.inbox.changed.connect(() => {
    const { items } = model.inbox;
    const fresh = items.filter(item => !told.has(item.id) && !sight.isSeen(item));
    told = new Set(items.map(item => item.id));
    if (shown !== null && (items.length === 0 || fresh.length > 0)) {
      Notification.dismiss(shown);
      shown = null;
    }
    if (fresh.length > 0 && model.preferences.notify) {
      shown = Notification.emit(sentence(items), 'warning', {
        autoClose: false,
        actions: [{ label: t('Show'), callback: sight.showPanel }]
      });
    }
  });
}
