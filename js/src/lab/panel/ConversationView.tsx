import type { VNode } from 'preact';
import { useReducer, useRef, useState } from 'preact/hooks';

import { useAction } from '../../shared/ui/useAction';
import { Button, Failure } from '../../shared/ui/Button';
import { CoworkError, type Channel } from '../../shared/channel/channel';
import { PromptPicker } from './PromptPicker';
import type { Job, Page } from '../../shared/types';
import { RoleSwitcher } from '../../shared/role/RoleSwitcher';
import { RunCard } from '../../shared/run/RunCard';
import type { RunStore } from '../../shared/run/store';
import { t } from '../../shared/text/translate';
import { oneLine } from '../../shared/text/visible';
import { CheckpointsSection } from './CheckpointsSection';
import { Composer } from './Composer';
import { useLoaded, useActivity, usePanel } from './context';
import { openConversation, type OpenConversation } from './conversations';
import { ConversationTools } from './ConversationTools';
import { useFollowEnd } from './useFollowEnd';
import { emptyRunCard } from './standaloneActions';
import { usePictures } from './images';
import { Queue } from './Queue';
import { RenameField } from './RenameField';

/** Page size of the list of cards, newest first. */
const PAGE_SIZE = 20;

/** These events may change who gets the next message. */
const RELOAD_EVENTS = ['job-started', 'role-changed'];

interface Opened {
  conversation: OpenConversation;
  cards: readonly string[];
}

/** Jobs with their own card; an execution belongs to the card of its plan. */
function cardsOf(jobs: readonly Job[]): string[] {
  const roots = jobs.filter(({ id, card_id }) => id === card_id);
  const made = new Set(roots.filter(({ kind }) => kind !== 'plan').map(({ plan_id }) => plan_id));
  return roots
    .filter(({ kind, plan_id }) => kind !== 'plan' || !made.has(plan_id))
    .map(({ id }) => id);
}

interface ConversationViewProps {
  id: string;
  /** Model picked for the next message; empty for the conversation's own. */
  model: string;
  picker: VNode;
  onBack: () => void;
}

export function ConversationView({ id, model, picker, onBack }: ConversationViewProps): VNode {
  const { channel } = usePanel();
  const happened = useActivity(RELOAD_EVENTS, id);
  const opened = useLoaded<Opened>(async () => {
    const [conversation, jobs] = await Promise.all([
      openConversation(channel, id),
      channel.request<Page<Job>>('GET', `context/${id}/jobs`)
    ]);
    return { conversation, cards: cardsOf(jobs.items) };
  }, [id, happened]);
  const { value, error } = opened;
  return (
    <>
      <Top
        conversation={value?.conversation ?? null}
        picker={picker}
        onBack={onBack}
        onChanged={opened.reload}
      />
      {value === null ? (
        <div class="cw-panel-scroll">
          <div class="cw-section">
            {error === null && <p class="cw-dim">{t('Opening…')}</p>}
            {error instanceof CoworkError && error.status === 404 ? (
              <p class="cw-text">{t('This conversation was deleted.')}</p>
            ) : (
              <Failure error={error} />
            )}
          </div>
        </div>
      ) : (
        <Talk
          key={id}
          conversation={value.conversation}
          cards={value.cards}
          model={model}
          onMore={opened.reload}
        />
      )}
    </>
  );
}

interface TopProps {
  conversation: OpenConversation | null;
  picker: VNode;
  onBack: () => void;
  onChanged: () => void;
}

function Top({ conversation, picker, onBack, onChanged }: TopProps): VNode {
  const [open, setOpen] = useState(false);
  const [renaming, setRenaming] = useState(false);
  return (
    <div class="cw-top">
      <div class="cw-conversation">
        <Button look="link" label={t('Back to all conversations')} onClick={onBack}>
          ‹ {t('All')}
        </Button>
        {renaming && conversation ? (
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
          <h2 class="cw-name">{oneLine(conversation?.title || t('Untitled'), 120)}</h2>
        )}
        <button
          type="button"
          class="cw-plain cw-more"
          aria-expanded={open}
          aria-label={t('More about this conversation')}
          onClick={() => setOpen(!open)}
        >
          ⋯
        </button>
      </div>
      {open && conversation && (
        <>
          <ConversationTools
            conversation={conversation}
            onRename={() => setRenaming(true)}
            onChanged={onChanged}
            onDeleted={onBack}
          />
          <p class="cw-dim cw-goes-on">
            {t('Continues with')} {picker}
          </p>
          <PromptPicker conversation={conversation} onChanged={onChanged} />
        </>
      )}
    </div>
  );
}

interface TalkProps {
  conversation: OpenConversation;
  cards: readonly string[];
  model: string;
  /** Called when a job starts that no card shows. */
  onMore: () => void;
}

function Talk({ conversation, cards, model, onMore }: TalkProps): VNode {
  const { channel } = usePanel();
  const stores = useRef(new Map<string, RunStore>()).current;
  const [text, setText] = useState('');
  const pictures = usePictures();
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const sending = useAction();
  const scroll = useRef<HTMLDivElement>(null);
  const [most, setMost] = useState(PAGE_SIZE);
  const { toEnd, hold } = useFollowEnd(scroll);
  const earlier = Math.max(0, cards.length - most);
  const { id, role } = conversation;
  const last = stores.get(cards[cards.length - 1] ?? '') ?? null;
  const running = last?.state.busy ?? null;

  const onChange = (root: string, store: RunStore): void => {
    stores.set(root, store);
    draw(undefined);
    const { busy } = store.state;
    if (busy !== null && ![...stores.values()].some(({ state }) => state.follows.includes(busy))) {
      onMore();
    }
  };
  const send = (): void => {
    // A message to the planner is about the plan above; to any other role it is a new request.
    const about = role === 'planner' && last?.state.plan ? { card_id: last.card.job_id } : {};
    const body = {
      content: text.trim(),
      role,
      ...about,
      ...(model ? { model } : {}),
      ...(pictures.items.length > 0 ? { pictures: pictures.items } : {})
    };
    void sending
      .run(async () => {
        if (running !== null && (await isQueued(channel, id, text.trim()))) {
          return;
        }
        await channel.request('POST', `context/${id}/messages`, body);
        if (cards.length === 0) {
          onMore();
        }
      })
      .then(ok => {
        if (ok) {
          setText('');
          pictures.clear();
          toEnd();
        }
      });
  };
  return (
    <>
      <div class="cw-panel-scroll" ref={scroll}>
        <div>
          {cards.length === 0 && <p class="cw-section cw-dim">{t('No messages yet.')}</p>}
          {earlier > 0 && (
            <p class="cw-section">
              <Button
                look="link"
                onClick={() => {
                  hold();
                  setMost(most + PAGE_SIZE);
                }}
              >
                {t('Show earlier (%1 more)', String(earlier))}
              </Button>
            </p>
          )}
          {cards.slice(earlier).map(root => (
            <CardOf
              key={root}
              conversation={conversation}
              root={root}
              onChange={store => onChange(root, store)}
            />
          ))}
          <CheckpointsSection context={id} open={false} />
        </div>
      </div>
      <Queue context={id} />
      <Composer
        text={text}
        placeholder={
          running === null
            ? t('Continue: ask, or say what to change')
            : t('Enter queues this for the agent’s next turn')
        }
        focusRequests={1}
        sending={sending}
        place={{ context: id, role }}
        pictures={pictures}
        onStop={
          running === null
            ? null
            : () => void sending.run(() => channel.request('POST', `jobs/${running}/cancel`))
        }
        onInput={setText}
        onSend={send}
      >
        <RoleSwitcher
          role={role}
          channel={channel}
          onSwitch={async (chosen, confirm) => {
            await channel.request(
              'POST',
              `context/${id}/role`,
              confirm ? { role: chosen, confirm } : { role: chosen }
            );
            last?.chooseRole(chosen);
          }}
        />
      </Composer>
    </>
  );
}

/** Queues the message for the next turn; false if the job has ended, so that it can be sent. */
async function isQueued(channel: Channel, context: string, content: string): Promise<boolean> {
  try {
    await channel.request('POST', `context/${context}/queue`, { content });
    return true;
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'not_running') {
      return false;
    }
    throw error;
  }
}

function CardOf({
  conversation,
  root,
  onChange
}: {
  conversation: OpenConversation;
  root: string;
  onChange: (store: RunStore) => void;
}): VNode {
  const { channel } = usePanel();
  const { id, role, title } = conversation;
  // Keep the same object while mounted: a new card would count as an update.
  const [card] = useState(() => emptyRunCard(id, root, role, title));
  return <RunCard card={card} channel={channel} onChange={onChange} />;
}
