import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { Button, Failure } from '../../shared/Button';
import { moment } from '../../shared/figures';
import { Icon } from '../../shared/icons';
import { roleLook } from '../../shared/role/roles';
import { t } from '../../shared/translate';
import { oneLine } from '../../shared/visible';
import { usePanel, type Loaded } from './context';
import { matching, type Conversation } from './conversations';
import { ConversationTools } from './ConversationTools';
import { Section } from './Section';

interface ConversationsSectionProps {
  listed: Loaded<Conversation[]>;
  /** Those in which something waits for the user. */
  waiting: ReadonlySet<string>;
  search: string;
  onSearch: (words: string) => void;
  onNew: () => void;
}

/** This notebook's conversations first, then all others of the workspace. */
export function ConversationsSection({
  listed,
  waiting,
  search,
  onSearch,
  onNew
}: ConversationsSectionProps): VNode {
  const { notebook } = usePanel();
  const found = matching(listed.value ?? [], search);
  const here = found.filter(one => notebook !== null && one.notebook === notebook);
  const others = found.filter(one => !here.includes(one));
  const rows = (conversations: readonly Conversation[]): VNode[] =>
    conversations.map(one => (
      <Row key={one.id} conversation={one} waits={waiting.has(one.id)} onChanged={listed.reload} />
    ));
  return (
    <Section title={t('Conversations')}>
      {() => (
        <>
          <div class="cw-row cw-find">
            <input
              type="search"
              class="cw-input"
              value={search}
              placeholder={t('Search')}
              aria-label={t('Search conversations')}
              onInput={event => onSearch(event.currentTarget.value)}
            />
            <Button icon="plus" onClick={onNew}>
              {t('New')}
            </Button>
          </div>
          <Failure error={listed.error} />
          {here.length > 0 && (
            <>
              <h3 class="cw-subheading">{t('This notebook')}</h3>
              <ul class="cw-list">{rows(here)}</ul>
            </>
          )}
          {others.length > 0 && (
            <>
              {here.length > 0 && <h3 class="cw-subheading">{t('Workspace')}</h3>}
              <ul class="cw-list">{rows(others)}</ul>
            </>
          )}
          <p class="cw-row cw-dim" role="status" hidden={found.length > 0 || !search}>
            {found.length === 0 && search && t('No conversation is called that.')}
          </p>
        </>
      )}
    </Section>
  );
}

function Row({
  conversation,
  waits,
  onChanged
}: {
  conversation: Conversation;
  waits: boolean;
  onChanged: () => void;
}): VNode {
  const panel = usePanel();
  const [open, setOpen] = useState(false);
  const title = oneLine(conversation.title || t('Untitled'), 120);
  const role = roleLook(conversation.role);
  return (
    <li class="cw-row">
      <div class="cw-conversation">
        <button type="button" class="cw-plain" onClick={() => panel.open(conversation.id)}>
          <span class={`cw-ink cw-colour-${role.colour}`} title={role.label}>
            <Icon name={role.icon} />
          </span>
          <span class="cw-name">{title}</span>
          {waits && (
            <span
              class="cw-badge"
              role="img"
              aria-label={t('waits for you')}
              title={t('waits for you')}
            >
              ?
            </span>
          )}
          <span class="cw-dim cw-when">{moment(conversation.updated_at)}</span>
        </button>
        <button
          type="button"
          class="cw-plain cw-more"
          aria-expanded={open}
          aria-label={t('More about %1', title)}
          onClick={() => setOpen(!open)}
        >
          ⋯
        </button>
      </div>
      {open && (
        <ConversationTools
          conversation={conversation}
          onRenamed={onChanged}
          onDeleted={onChanged}
        />
      )}
    </li>
  );
}
