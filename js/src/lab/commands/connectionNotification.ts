import { Notification } from '@jupyterlab/apputils';

import { messageOf } from '../../shared/channel/channel';
import type { Check } from '../../shared/model/connectionCheck';
import { modelSentence } from '../../shared/model/HealthAnswer';
import { t } from '../../shared/text/translate';

/**
 * Fast answers need no progress message; Lab also loses updates that arrive before the message is
 * rendered.
 */
const PROGRESS_DELAY_MS = 400;
const CLOSE_AFTER_MS = 5000;

interface Announcement {
  message: string;
  type: 'success' | 'warning' | 'error';
}

function announcementOf(check: Check): Announcement {
  if (check.state === 'answered') {
    return {
      message: modelSentence(check.health),
      type: check.health.model.ready ? 'success' : 'warning'
    };
  }
  return { message: messageOf(check.state === 'failed' ? check.error : null), type: 'error' };
}

/** `showPanel` leads to the set-up help. */
export async function notifyConnection(
  check: Promise<Check>,
  showPanel: () => void
): Promise<void> {
  const quick = await Promise.race([check, pause()]);
  const progress = quick ? null : showProgress();
  const [result] = await Promise.all([check, progress === null ? null : pause()]);
  const { message, type } = announcementOf(result);
  const options =
    type === 'success'
      ? { autoClose: CLOSE_AFTER_MS as number | false }
      : {
          autoClose: false as const,
          actions: [{ label: t('Show Cowork Panel'), callback: showPanel }]
        };
  if (progress === null) {
    Notification.emit(message, type, options);
  } else {
    Notification.update({ id: progress, message, type, ...options });
  }
}

function showProgress(): string {
  return Notification.emit(t('Checking the model connection…'), 'in-progress', {
    autoClose: false
  });
}

function pause(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, PROGRESS_DELAY_MS));
}
