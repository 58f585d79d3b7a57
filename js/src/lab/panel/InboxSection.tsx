import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { PermissionBatch, PermissionCard } from '../../shared/ask/PermissionCard';
import { QuestionCard } from '../../shared/ask/QuestionCard';
import { Button } from '../../shared/ui/Button';
import { Fold } from '../../shared/ui/Fold';
import { RunProvider } from '../../shared/run/context';
import { t } from '../../shared/text/translate';
import { oneLine } from '../../shared/text/visible';
import { describeItem, placeOf, summarize, type InboxItem } from '../inbox/inbox';
import { usePanel } from './context';
import { standaloneActions } from './standaloneActions';
import { NotifyOffer } from './NotifyOffer';
import { Section } from './Section';

/** Everything that waits for the user. First in the panel, since agents are blocked on it. */
export function InboxSection({
  items,
  notify
}: {
  items: readonly InboxItem[];
  notify: boolean;
}): VNode {
  const { channel } = usePanel();
  const runContext = useMemo(
    () => ({ actions: standaloneActions(channel, ''), live: true }),
    [channel]
  );
  const [together, setTogether] = useState(false);
  const requests = items.flatMap(item => (item.kind === 'permission' ? [item.request] : []));
  return (
    <div class="cw-inbox">
      {/* Rendered even while empty, or screen readers would miss the first item. */}
      <div class="cw-sr" role="status">
        {items.length > 0 && summarize(items)}
      </div>
      {items.length > 0 && (
        <Section title={t('Waiting for you')} count={<span class="cw-badge">{items.length}</span>}>
          {() => (
            <RunProvider value={runContext}>
              {requests.length > 1 && (
                <div class="cw-row">
                  <Button expanded={together} onClick={() => setTogether(!together)}>
                    {t('Decide %1 together', String(requests.length))}
                  </Button>
                </div>
              )}
              {together && requests.length > 1 ? (
                <PermissionBatch requests={requests} />
              ) : (
                items.map(item => <Item key={item.id} item={item} open={items.length === 1} />)
              )}
              {notify && <NotifyOffer />}
            </RunProvider>
          )}
        </Section>
      )}
    </div>
  );
}

function Item({ item, open }: { item: InboxItem; open: boolean }): VNode {
  const panel = usePanel();
  return (
    <div class="cw-row cw-inbox-item">
      <Fold
        summary={
          <>
            {describeItem(item)} <span class="cw-dim">{placeOf(item)}</span>
          </>
        }
        open={open}
      >
        {() => (
          <>
            <p class="cw-dim">
              <Button look="link" onClick={() => panel.open(item.context)}>
                {oneLine(item.title || t('Untitled'), 80)}
              </Button>
            </p>
            {item.kind === 'question' ? (
              <QuestionCard question={item.question} step={null} />
            ) : (
              <PermissionCard request={item.request} step={null} />
            )}
          </>
        )}
      </Fold>
    </div>
  );
}
