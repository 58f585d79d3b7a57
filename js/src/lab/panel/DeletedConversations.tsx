import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { useAction } from '../../shared/ui/useAction';
import { Button, Failure } from '../../shared/ui/Button';
import { t } from '../../shared/text/translate';
import { oneLine } from '../../shared/text/visible';
import { usePanel, type Loaded } from './context';
import { restore, type Conversation } from './conversations';

interface DeletedConversationsProps {
  /** Newest first. */
  deleted: Loaded<Conversation[]>;
  /** Deleted just now, so offered for undo prominently. */
  newest: string | null;
  onRestored: () => void;
}

/** Deleted conversations, for as long as the server keeps them. */
export function DeletedConversations({
  deleted,
  newest,
  onRestored
}: DeletedConversationsProps): VNode {
  const [first, ...others] = deleted.value ?? [];
  const [isOpen, setOpen] = useState(false);
  const rows = first ? [first, ...(isOpen ? others : [])] : [];
  return (
    <div class="cw-deleted" role="status">
      {rows.map(one => (
        <Row
          key={one.id}
          conversation={one}
          isNewest={one.id === newest}
          onRestored={onRestored}
          onGone={deleted.reload}
        />
      ))}
      {!isOpen && others.length > 0 && (
        <div class="cw-row">
          <Button look="link" onClick={() => setOpen(true)}>
            {t('Show %1 more deleted', String(others.length))}
          </Button>
        </div>
      )}
    </div>
  );
}

function Row({
  conversation,
  isNewest,
  onRestored,
  onGone
}: {
  conversation: Conversation;
  isNewest: boolean;
  onRestored: () => void;
  onGone: () => void;
}): VNode {
  const { channel } = usePanel();
  const restoring = useAction();
  const row = useRef<HTMLDivElement>(null);
  // The delete button vanished with its row, so move keyboard focus here.
  useLayoutEffect(() => {
    if (isNewest) {
      row.current?.querySelector('button')?.focus();
    }
  }, [isNewest]);
  const title = oneLine(conversation.title || t('Untitled'), 80);
  return (
    <div class="cw-row" ref={row}>
      <div class="cw-conversation">
        <span class="cw-name cw-dim">{t('Deleted: %1', title)}</span>
        <Button
          busy={restoring.busy}
          label={t('Undo deleting %1', title)}
          onClick={() =>
            void restoring
              .run(() => restore(channel, conversation.id))
              .then(ok => (ok ? onRestored() : onGone()))
          }
        >
          {t('Undo')}
        </Button>
      </div>
      <Failure error={restoring.error} />
    </div>
  );
}
