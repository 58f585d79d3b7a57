/**
 * Notifies in Lab when something waits while the user looks elsewhere: a single notification, kept
 * up to date. If the tab is hidden, the browser notifies.
 */

import { Notification } from '@jupyterlab/apputils';

import { t } from '../../shared/text/translate';
import type { ICoworkModel } from '../model/coworkModel';
import { summarize, type InboxItem } from './inbox';

export interface Visibility {
  /** Whether the item is already visible, in the panel or as a card in the notebook. */
  isSeen(item: InboxItem): boolean;
  showPanel(): void;
}

export function notifyAboutInbox(model: ICoworkModel, sight: Visibility): void {
  let shown: string | null = null;
  let told = new Set<string>();
  const alertBrowser = browserAlerts(model, sight);
  model.inbox.changed.connect(() => {
    const { items } = model.inbox;
    const fresh = items.filter(item => !told.has(item.id) && !sight.isSeen(item));
    told = new Set(items.map(item => item.id));
    if (shown !== null && (items.length === 0 || fresh.length > 0)) {
      Notification.dismiss(shown);
      shown = null;
    }
    if (fresh.length > 0 && model.preferences.notify) {
      shown = Notification.emit(summarize(items), 'warning', {
        autoClose: false,
        actions: [{ label: t('Show'), callback: sight.showPanel }]
      });
    }
    void alertBrowser(items, fresh.length > 0);
  });
  model.changed.connect(() => void alertBrowser(model.inbox.items, false));
}

/** Loads the alerts when something first waits. */
function browserAlerts(
  model: ICoworkModel,
  sight: Visibility
): (items: readonly InboxItem[], isFresh: boolean) => Promise<void> {
  let alerts: import('./browserAlerts').Alerts | null = null;
  return async (items, isFresh) => {
    if (alerts === null && items.length > 0) {
      const { Alerts } = await import('./browserAlerts');
      alerts ??= new Alerts(sight.showPanel);
    }
    alerts?.update(model.inbox.items, isFresh, model.preferences);
  };
}
