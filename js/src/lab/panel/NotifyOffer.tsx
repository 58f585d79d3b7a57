import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { Button } from '../../shared/ui/Button';
import { t } from '../../shared/text/translate';

/** `denied` also where notifications are unsupported. */
function permission(): NotificationPermission {
  return 'Notification' in window ? Notification.permission : 'denied';
}

/** Asks for the browser's permission only after a click. */
export function NotifyOffer(): VNode {
  const [before] = useState(permission);
  const [now, setNow] = useState(before);
  return (
    <p class="cw-row cw-dim cw-offer" role="status" hidden={before !== 'default'}>
      {before === 'default' && now === 'default' && (
        <>
          {t('Get a notification when Cowork needs you and this tab is hidden.')}{' '}
          <Button
            look="link"
            onClick={() => void Notification.requestPermission().then(() => setNow(permission()))}
          >
            {t('Turn on notifications')}
          </Button>
        </>
      )}
      {before !== now &&
        (now === 'granted'
          ? t('Your browser will notify you when Cowork needs you and this tab is hidden.')
          : t('Your browser blocks notifications from this page. Allow them in its settings.'))}
    </p>
  );
}
