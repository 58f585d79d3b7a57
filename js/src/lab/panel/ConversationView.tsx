import type { VNode } from 'preact';
import { useMemo, useReducer, useRef, useState } from 'preact/hooks';

import { useAction } from '../../shared/action';
import { Button, Failure } from '../../shared/Button';
import { CoworkError } from '../../shared/channel';
import type { Job, Page } from '../../shared/protocol';
import { RoleSwitcher } from '../../shared/RoleSwitcher';
import { RunCard } from '../../shared/run/RunCard';
import { isFinal, presentJob } from '../../shared/run/state';
import type { RunStore } from '../../shared/run/store';
import { t } from '../../shared/translate';
import { oneLine } from '../../shared/visible';
import { CheckpointsSection } from './CheckpointsSection';
import { Composer } from './Composer';
import { useLoaded, usePanel } from './context';
import type { Conversation } from './conversations';
import { ConversationTools } from './ConversationTools';
import { useFollowedEnd } from './followEnd';
import { blankCard } from './hands';

/** So many of its newest jobs are shown; the record has them all. */
const MOST_JOBS = 20;

interface Opened {
  conversation: Conversation;
  jobs: readonly string[];
}

interface ConversationViewProps {
  id: string;
  /** The model that the user has picked for what comes; empty for the conversation's own. */
  model: string;
  picker: VNode;
  onBack: () => void;
}

/** One conversation: what was said and done, the plan, what waits, and where one goes on writing. */
export function ConversationView({ id, model, picker, onBack }: ConversationViewProps): VNode {
  const { channel } = usePanel();
  const opened = useLoaded<Opened>(async () => {
    const [conversation, jobs] = await Promise.all([
      channel.request<Conversation>('GET', `context/${id}`),
      channel.request<Page<Job>>('GET', `context/${id}/jobs`)
    ]);
    return { conversation, jobs: jobs.items.slice(-MOST_JOBS).map(job => job.id) };
  }, [id]);
  const { value, error } = opened;
  return (
    <>
      <Top conversation={value?.conversation ?? null} picker={picker} onBack={onBack} onRenamed={opened.reload} />
      {value === null ? (
        <div class="cw-panel-scroll">
          <div class="cw-section">
            {error === null && <p class="cw-dim">{t('Opening…')}</p>}
            {error instanceof CoworkError && error.status === 404 ? <p class="cw-text">{t('This conversation was deleted.')}</p> : <Failure error={error} />}
          </div>
        </div>
      ) : (
        <Talk key={id} conversation={value.conversation} jobs={value.jobs} model={model} onMore={opened.reload} />
      )}
    </>
  );
}

interface TopProps {
  conversation: Conversation | null;
  picker: VNode;
  onBack: () => void;
  onRenamed: () => void;
}

function Top({ conversation, picker, onBack, onRenamed }: TopProps): VNode {
  const [open, setOpen] = useState(false);
  return (
    <div class="cw-top">
      <div class="cw-conversation">
        <Button look="link" label={t('Back to all conversations')} onClick={onBack}>
          ‹ {t('All')}
        </Button>
        <h2 class="cw-name">{oneLine(conversation?.title || t('Untitled'), 120)}</h2>
        <button type="button" class="cw-plain cw-more" aria-expanded={open} aria-label={t('More about this conversation')} onClick={() => setOpen(!open)}>
          ⋯
        </button>
      </div>
      {open && conversation && (
        <>
          <ConversationTools conversation={conversation} onRenamed={onRenamed} onDeleted={onBack} />
          <p class="cw-dim cw-goes-on">
            {t('Goes on with')} {picker}
          </p>
        </>
      )}
    </div>
  );
}

interface TalkProps {
  conversation: Conversation;
  jobs: readonly string[];
  model: string;
  /** A job began that this view does not follow. */
  onMore: () => void;
}

function Talk({ conversation, jobs, model, onMore }: TalkProps): VNode {
  const { channel } = usePanel();
  const [store, setStore] = useState<RunStore | null>(null);
  const [text, setText] = useState('');
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const sending = useAction();
  const scroll = useRef<HTMLDivElement>(null);
  useFollowedEnd(scroll);
  const { id } = conversation;
  // The same card as long as it is about the same jobs: a new one would be taken for news.
  const card = useMemo(() => blankCard(id, jobs, conversation.role, conversation.title), [id, jobs.join()]);
  const state = store?.state ?? null;
  const job = state && presentJob(state);
  const running = job !== null && !isFinal(job.status) ? job.id : null;

  const onChange = (changed: RunStore): void => {
    setStore(changed);
    draw(undefined);
    const { busy, follows } = changed.state;
    if (busy !== null && !follows.includes(busy)) {
      onMore();
    }
  };
  const send = (): void => {
    const say = (): Promise<{ job_id: string }> =>
      channel.request('POST', `context/${id}/messages`, { content: text.trim(), ...(model ? { model } : {}) });
    void sending.run(() => (store ? store.start(say) : say().then(onMore))).then(ok => ok && setText(''));
  };
  return (
    <>
      <div class="cw-panel-scroll" ref={scroll}>
        <div>
          {jobs.length > 0 ? (
            <RunCard key={jobs.join()} card={card} channel={channel} onChange={onChange} />
          ) : (
            <p class="cw-section cw-dim">{t('Nothing was said here yet.')}</p>
          )}
          <CheckpointsSection context={id} open={false} />
        </div>
      </div>
      <Composer
        text={text}
        placeholder={t('Go on: ask, or say what should be different')}
        summons={1}
        sending={sending}
        onStop={running === null ? null : () => void sending.run(() => channel.request('POST', `jobs/${running}/cancel`))}
        onInput={setText}
        onSend={send}
      >
        <RoleSwitcher
          role={state?.role ?? conversation.role}
          onSwitch={async (role, confirm) => {
            await channel.request('POST', `context/${id}/role`, confirm ? { role, confirm } : { role });
          }}
        />
      </Composer>
    </>
  );
}
