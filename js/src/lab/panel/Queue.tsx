import type { VNode } from 'preact';

import { useAction } from '../../shared/ui/useAction';
import { Button, Failure } from '../../shared/ui/Button';
import type { Page } from '../../shared/types';
import { t } from '../../shared/text/translate';
import { oneLine } from '../../shared/text/visible';
import { useFollowed, usePanel } from './context';

const RELOAD_EVENTS = ['queue-changed'];

interface QueuedMessage {
  id: string;
  content: string;
}

/** Messages sent while a job runs, until the agent reads them; they can be withdrawn. */
export function Queue({ context }: { context: string }): VNode {
  const { channel } = usePanel();
  const { value, reload } = useFollowed<Page<QueuedMessage>>(
    `context/${context}/queue`,
    RELOAD_EVENTS,
    context
  );
  const removing = useAction();
  const revertChange = (id: string): void =>
    void removing
      .run(() => channel.request('DELETE', `context/${context}/queue/${id}`))
      .then(reload);
  return (
    <>
      <ul class="cw-queue" aria-live="polite">
        {(value?.items ?? []).map(({ id, content }) => (
          <li key={id} class="cw-chip">
            <span class="cw-name" title={oneLine(content, 2000)}>
              {t('Queued: %1', oneLine(content, 200))}
            </span>
            <Button
              look="link"
              label={t('Withdraw: %1', oneLine(content, 80))}
              onClick={() => revertChange(id)}
            >
              ✕
            </Button>
          </li>
        ))}
      </ul>
      <Failure error={removing.error} />
    </>
  );
}
