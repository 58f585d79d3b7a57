import { Fragment, type VNode } from 'preact';
import { useState } from 'preact/hooks';

import { useAction } from '../../shared/ui/useAction';
import { CheckButton } from '../../shared/model/CheckButton';
import type { Check } from '../../shared/model/connectionCheck';
import { HealthAnswer, modelLabel } from '../../shared/model/HealthAnswer';
import { ModelHelp } from '../../shared/model/ModelHelp';
import type { Health } from '../../shared/types';
import { RolePill } from '../../shared/role/RolePill';
import { t } from '../../shared/text/translate';
import type { InboxItem } from '../inbox/inbox';
import type { PanelSection } from '../part';
import { CheckpointsSection } from './CheckpointsSection';
import { Composer } from './Composer';
import { useLoaded, useActivity, usePanel } from './context';
import { lastUsed, listConversations, listDeleted, type Conversation } from './conversations';
import { ConversationsSection } from './ConversationsSection';
import { DeletedConversations } from './DeletedConversations';
import { InboxSection } from './InboxSection';
import { usePictures } from './images';
import { PlanSection } from './PlanSection';
import { RulesSection } from './RulesSection';
import { Section } from './Section';
import { TrustSection } from './TrustSection';

const RELOAD_EVENTS = ['job-started', 'job-completed', 'role-changed', 'file-moved'];

export interface OverviewProps {
  sections: readonly PanelSection[];
  inbox: readonly InboxItem[];
  notify: boolean;
  /** Role of a new conversation. */
  role: string;
  health: Health | null;
  /** A check that the user requested, or a failure worth showing; otherwise idle. */
  check: Check;
  /** Empty for the server's default. */
  model: string;
  /** False if no notebook is open. */
  canInsert: boolean;
  draft: string;
  /** A change focuses the field. */
  focusRequests: number;
  onDraft: (text: string) => void;
  onNew: () => void;
  onInsertPlan: () => void;
  onCheck: () => void;
}

/** A section, and its place among the others. */
type Placed = [order: number, section: VNode];

/** Ordered by urgency: what waits, progress, rollback, everything else. */
export function Overview(props: OverviewProps): VNode {
  const { channel, notebook } = usePanel();
  const happened = useActivity(RELOAD_EVENTS);
  const listed = useLoaded(() => listConversations(channel), [happened]);
  const deleted = useLoaded(() => listDeleted(channel), [happened]);
  const [justDeleted, setJustDeleted] = useState<string | null>(null);
  const reload = (): void => {
    listed.reload();
    deleted.reload();
  };
  const own: Placed[] = [
    [400, <RulesSection />],
    [600, <TrustSection />],
    [700, <ModelSection health={props.health} check={props.check} onCheck={props.onCheck} />]
  ];
  const ofParts = props.sections.map(({ order, title, name, Body }): Placed => [
    order,
    <Section title={title()} {...(name ? { part: name } : {})} open={false}>
      {() => <Body />}
    </Section>
  ]);
  const present = presentOf(listed.value ?? [], notebook);
  return (
    <>
      <div class="cw-panel-scroll">
        <InboxSection items={props.inbox} notify={props.notify} />
        {present && <PlanSection key={`plan ${present.id}`} context={present.id} />}
        {present && <CheckpointsSection key={`past ${present.id}`} context={present.id} />}
        <DeletedConversations deleted={deleted} newest={justDeleted} onRestored={reload} />
        {listed.value?.length === 0 || (listed.value === null && listed.error === null) ? (
          <Welcome
            canInsert={props.canInsert}
            isKnown={listed.value !== null}
            onInsertPlan={props.onInsertPlan}
          />
        ) : (
          <ConversationsSection
            listed={listed}
            waiting={new Set(props.inbox.map(item => item.context))}
            onNew={props.onNew}
            onDeleted={id => {
              setJustDeleted(id);
              reload();
            }}
          />
        )}
        {[...own, ...ofParts]
          .sort(([one], [other]) => one - other)
          .map(([order, section]) => (
            <Fragment key={order}>{section}</Fragment>
          ))}
      </div>
      <NewConversation {...props} />
    </>
  );
}

/**
 * The conversation whose plan and checkpoints are shown: this notebook's newest, or the newest of
 * all.
 */
function presentOf(
  conversations: readonly Conversation[],
  notebook: string | null
): Conversation | null {
  return lastUsed(
    notebook === null ? conversations : conversations.filter(one => one.notebook === notebook)
  );
}

function Welcome({
  canInsert,
  isKnown,
  onInsertPlan
}: {
  canInsert: boolean;
  isKnown: boolean;
  onInsertPlan: () => void;
}): VNode {
  return (
    <Section title={t('Conversations')} part="conversations">
      {() => (
        <div class="cw-section">
          {isKnown && <div class="cw-title">{t('No conversations yet')}</div>}
          <p class="cw-text">
            {t(
              'Write %1 in a cell, say what you want, and run it. You get a plan to review; ' +
                'nothing changes until you approve it. Or ask below.',
              '%%plan'
            )}
          </p>
          <button
            type="button"
            class="cw-button cw-start"
            disabled={!canInsert}
            onClick={onInsertPlan}
          >
            {t('Insert a %1 cell', '%%plan')}
          </button>
          {!canInsert && (
            <p class="cw-dim">{t('Open a notebook first; the cell goes below its active cell.')}</p>
          )}
        </div>
      )}
    </Section>
  );
}

function ModelSection({
  health,
  check,
  onCheck
}: {
  health: Health | null;
  check: Check;
  onCheck: () => void;
}): VNode {
  const { channel } = usePanel();
  return (
    <Section title={t('Model')}>
      {() => (
        <div class="cw-section">
          {health?.model.ready && (
            <p class="cw-text">{t('%1 is ready.', modelLabel(health.model))}</p>
          )}
          {health && (
            <ModelHelp
              health={health}
              sayWhyNot={check.state !== 'answered'}
              channel={channel}
              onChange={onCheck}
            />
          )}
          <CheckButton check={check} onCheck={onCheck} plain />
          <HealthAnswer check={check} />
        </div>
      )}
    </Section>
  );
}

/** The conversation is created with its first message, so that none is left empty. */
function NewConversation({ model, draft, role, focusRequests, onDraft }: OverviewProps): VNode {
  const { channel, notebook, open } = usePanel();
  const sending = useAction();
  const pictures = usePictures();
  const send = (): void => {
    const begin = async (): Promise<void> => {
      const about = {
        role,
        ...(notebook ? { notebook } : {}),
        ...(model ? { model } : {})
      };
      const { id } = await channel.request<Conversation>('POST', 'context', about);
      await channel.request('POST', `context/${id}/messages`, {
        content: draft.trim(),
        ...(pictures.items.length > 0 ? { pictures: pictures.items } : {})
      });
      onDraft('');
      pictures.clear();
      open(id);
    };
    void sending.run(begin);
  };
  return (
    <Composer
      text={draft}
      placeholder={t('Ask, or say what you want: this starts a new conversation')}
      focusRequests={focusRequests}
      sending={sending}
      place={{ notebook, role }}
      pictures={pictures}
      onStop={null}
      onInput={onDraft}
      onSend={send}
    >
      <RolePill role={role} />
    </Composer>
  );
}
