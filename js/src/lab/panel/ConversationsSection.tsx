import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Button, Failure } from '../../shared/ui/Button';
import { moment } from '../../shared/text/format';
import { Icon } from '../../shared/ui/icons';
import { useRoles } from '../../shared/role/roles';
import { counted, t } from '../../shared/text/translate';
import { oneLine } from '../../shared/text/visible';
import { useLoaded, usePanel, type Loaded } from './context';
import {
  findConversations,
  notebooksOf,
  type Conversation,
  type ConversationFilter
} from './conversations';
import { ConversationTools } from './ConversationTools';
import { RenameField } from './RenameField';
import { Section } from './Section';

const ANY: ConversationFilter = { words: '', notebook: '' };
/** Debounce of the search. */
const PAUSE_MS = 200;

interface ConversationsSectionProps {
  listed: Loaded<Conversation[]>;
  /** Conversations in which something waits for the user. */
  waiting: ReadonlySet<string>;
  onNew: () => void;
  onDeleted: (id: string) => void;
}

/** Pinned conversations first, then this notebook's, then the rest. */
export function ConversationsSection({
  listed,
  waiting,
  onNew,
  onDeleted
}: ConversationsSectionProps): VNode {
  const { notebook } = usePanel();
  const [filter, setFilter] = useState(ANY);
  const found = useFound(listed, filter);
  const shown = found.value ?? [];
  const pinned = shown.filter(one => one.pinned);
  const here = shown.filter(one => !one.pinned && notebook !== null && one.notebook === notebook);
  const others = shown.filter(one => !pinned.includes(one) && !here.includes(one));
  const group = (title: string, conversations: readonly Conversation[]): VNode | null =>
    conversations.length === 0 ? null : (
      <>
        {title && <h3 class="cw-subheading">{title}</h3>}
        <ul class="cw-list">
          {conversations.map(one => (
            <Row
              key={one.id}
              conversation={one}
              waits={waiting.has(one.id)}
              onChanged={listed.reload}
              onDeleted={() => onDeleted(one.id)}
            />
          ))}
        </ul>
      </>
    );
  return (
    <Section title={t('Conversations')} part="conversations">
      {() => (
        <>
          <div class="cw-row cw-find">
            <input
              type="search"
              class="cw-input"
              value={filter.words}
              maxLength={200}
              placeholder={t('Search')}
              aria-label={t('Search conversations')}
              onInput={event => setFilter({ ...filter, words: event.currentTarget.value })}
            />
            <Button icon="plus" onClick={onNew}>
              {t('New')}
            </Button>
            <NotebookFilter
              notebooks={notebooksOf(listed.value ?? [])}
              chosen={filter.notebook}
              onChoose={chosen => setFilter({ ...filter, notebook: chosen })}
            />
          </div>
          <Failure error={found.error} />
          {group(t('Pinned'), pinned)}
          {group(t('This notebook'), here)}
          {group(others.length < shown.length ? t('Workspace') : '', others)}
          <FoundStatus filter={filter} found={found.value} />
        </>
      )}
    </Section>
  );
}

/** All conversations, or the server's matches once the user stops typing. */
function useFound(
  listed: Loaded<Conversation[]>,
  filter: ConversationFilter
): Pick<Loaded<Conversation[]>, 'value' | 'error'> {
  const { channel } = usePanel();
  const [asked, setAsked] = useState(filter);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(filter), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [filter]);
  const isAny = !asked.words.trim() && !asked.notebook;
  const found = useLoaded(
    () => (isAny ? Promise.resolve(null) : findConversations(channel, asked)),
    [asked, listed.value]
  );
  return isAny || (found.value === null && found.error === null) ? listed : found;
}

function NotebookFilter({
  notebooks,
  chosen,
  onChoose
}: {
  notebooks: readonly string[];
  chosen: string;
  onChoose: (notebook: string) => void;
}): VNode | null {
  if (notebooks.length < 2 && !chosen) {
    return null;
  }
  return (
    <select
      class="cw-input"
      aria-label={t('Conversations of which notebook')}
      value={chosen}
      onChange={event => onChoose(event.currentTarget.value)}
    >
      <option value="">{t('All notebooks')}</option>
      {notebooks.map(path => (
        <option key={path} value={path}>
          {oneLine(path, 80)}
        </option>
      ))}
    </select>
  );
}

/** Rendered even while empty, or screen readers would miss it. */
function FoundStatus({
  filter,
  found
}: {
  filter: ConversationFilter;
  found: readonly Conversation[] | null;
}): VNode {
  const isAny = !filter.words.trim() && !filter.notebook;
  const count = found?.length ?? 0;
  return (
    <p class={count > 0 ? 'cw-sr' : 'cw-row cw-dim'} role="status" hidden={isAny}>
      {!isAny &&
        (count === 0
          ? t('No conversation has these words in its name or messages.')
          : counted(count, '%1 conversation found', '%1 conversations found'))}
    </p>
  );
}

interface RowProps {
  conversation: Conversation;
  waits: boolean;
  onChanged: () => void;
  onDeleted: () => void;
}

function Row({ conversation, waits, onChanged, onDeleted }: RowProps): VNode {
  const panel = usePanel();
  const [open, setOpen] = useState(false);
  const [renaming, setRenaming] = useState(false);
  const title = oneLine(conversation.title || t('Untitled'), 120);
  const role = useRoles()(conversation.role);
  return (
    <li class="cw-row">
      <div class="cw-conversation">
        {renaming ? (
          <RenameField
            conversation={conversation}
            onDone={isRenamed => {
              setRenaming(false);
              if (isRenamed) {
                onChanged();
              }
            }}
          />
        ) : (
          <button
            type="button"
            class="cw-plain"
            onClick={() => panel.open(conversation.id)}
            onKeyDown={event => event.key === 'F2' && setRenaming(true)}
          >
            <span class={`cw-ink cw-colour-${role.colour}`} title={role.label}>
              <Icon name={role.icon} />
            </span>
            <span class="cw-name">{title}</span>
            {waits && (
              <span
                class="cw-badge"
                role="img"
                aria-label={t('waiting for you')}
                title={t('waiting for you')}
              >
                ?
              </span>
            )}
            <span class="cw-dim cw-when">{moment(conversation.updated_at)}</span>
          </button>
        )}
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
      {conversation.snippet && <div class="cw-dim">{oneLine(conversation.snippet, 160)}</div>}
      {open && (
        <ConversationTools
          conversation={conversation}
          onRename={() => setRenaming(true)}
          onChanged={onChanged}
          onDeleted={onDeleted}
        />
      )}
    </li>
  );
}
