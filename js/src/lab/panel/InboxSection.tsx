import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { PermissionBatch, PermissionCard } from '../../shared/ask/PermissionCard';
import { QuestionCard } from '../../shared/ask/QuestionCard';
import { toolWords } from '../../shared/ask/words';
import { Button } from '../../shared/Button';
import { Fold } from '../../shared/Fold';
import { RunProvider } from '../../shared/run/context';
import { counted, t } from '../../shared/translate';
import { oneLine } from '../../shared/visible';
import type { InboxItem } from '../inbox';
import { usePanel } from './context';
import { handsIn } from './hands';
import { Section } from './Section';

/**
 * Everything that waits for the user, each where it can be decided. It comes first: others wait for
 * it.
 */
export function InboxSection({ items }: { items: readonly InboxItem[] }): VNode {
  const { channel } = usePanel();
  const hands = useMemo(() => ({ actions: handsIn(channel, ''), live: true }), [channel]);
  const [together, setTogether] = useState(false);
  const requests = items.flatMap(item => (item.kind === 'permission' ? [item.request] : []));
  return (
    <div class="cw-inbox">
      {/* On the page while it is empty, or screen readers would miss the first one. */}
      <div class="cw-sr" role="status">
        {items.length > 0 && sentence(items)}
      </div>
      {items.length > 0 && (
        <Section title={t('Waits for you')} count={<span class="cw-badge">{items.length}</span>}>
          {() => (
            <RunProvider value={hands}>
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
            </RunProvider>
          )}
        </Section>
      )}
    </div>
  );
}

export function sentence(items: readonly InboxItem[]): string {
  const [first] = items;
  return items.length === 1 && first
    ? t('Cowork waits for you in %1: %2', where(first), line(first))
    : counted(
        items.length,
        '%1 thing waits for you in %2',
        '%1 things wait for you in %2',
        [...new Set(items.map(where))].join(', ')
      );
}

/** The notebook that it is about, or the conversation's name where there is none. */
export function where({ notebook, title }: InboxItem): string {
  return oneLine(notebook || title || t('Untitled'), 80);
}

/** What is asked, in one line. */
export function line(item: InboxItem): string {
  return item.kind === 'question'
    ? oneLine(item.question.question, 160)
    : `${toolWords(item.request.tool)}: ${oneLine(item.request.resource, 120)}`;
}

function Item({ item, open }: { item: InboxItem; open: boolean }): VNode {
  const panel = usePanel();
  return (
    <div class="cw-row cw-inbox-item">
      <Fold
        summary={
          <>
            {line(item)} <span class="cw-dim">{where(item)}</span>
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
