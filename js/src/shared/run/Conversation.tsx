import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { Button } from '../ui/Button';
import { Assumptions, withoutAssumptions } from '../effects/Assumptions';
import { WithFigures } from '../effects/Figures';
import { duration } from '../text/format';
import { Fold } from '../ui/Fold';
import { Icon } from '../ui/icons';
import { MentionChips } from '../mentions/Chips';
import { ReviewFindings } from './ReviewFindings';
import { RichText } from '../text/RichText';
import { RolePill } from '../role/RolePill';
import { StreamText } from '../text/StreamText';
import { codeSpans } from '../text/codeSpans';
import { inline } from '../text/markdown';
import { counted, t } from '../text/translate';
import { visible } from '../text/visible';
import { fold, type Block } from './grouping';
import { Note, Reason } from '../ui/Note';
import { CheckResult } from './Reproduce';
import { SetAsideNote } from './SetAside';
import type { Draft, Entry, LineEntry, QuestionEntry, TextEntry } from './state';
import { Reads, ToolCall } from './ToolCall';

/** Entries rendered before "show earlier". */
const PAGE_SIZE = 60;

/** Long messages of the user are folded: they know what they wrote. */
const MAX_USER_TEXT = 1000;

export function Conversation({ entries }: { entries: readonly Entry[] }): VNode | null {
  const [shown, setShown] = useState(PAGE_SIZE);
  const blocks = useMemo(() => fold(entries), [entries]);
  const hidden = Math.max(0, blocks.length - shown);
  if (blocks.length === 0) {
    return null;
  }
  return (
    <div class="cw-talk">
      {hidden > 0 && (
        <Button look="link" onClick={() => setShown(before => before + PAGE_SIZE * 4)}>
          {counted(hidden, 'Show %1 earlier entry', 'Show %1 earlier entries')}
        </Button>
      )}
      {blocks.slice(hidden).map((block, at, all) => (
        <BlockView
          key={block.id}
          block={block}
          speaker={isNewSpeaker(all.slice(0, at), block) ? block.role : null}
        />
      ))}
    </div>
  );
}

function isNewSpeaker(before: readonly Block[], block: Block): boolean {
  const last = before.filter(one => one.kind === 'text' && one.text.trim() !== '').pop();
  return last?.role !== block.role;
}

function BlockView({ block, speaker }: { block: Block; speaker: string | null }): VNode | null {
  switch (block.kind) {
    case 'reads':
      return <Reads calls={block.calls} />;
    case 'call':
      return <ToolCall call={block} />;
    case 'text':
      return <TextMessage entry={block} speaker={speaker} />;
    case 'question':
      return <Asked entry={block} />;
    case 'review':
      return <ReviewFindings review={block.review} />;
    case 'check':
      return <CheckResult check={block.check} />;
    case 'plan':
      return null;
    default:
      return <Line entry={block} />;
  }
}

/** Names the speaker only when it changes. */
function TextMessage({ entry, speaker }: { entry: TextEntry; speaker: string | null }): VNode {
  return useMemo(() => {
    if (entry.from === 'system') {
      return <p class="cw-dim">{visible(entry.text)}</p>;
    }
    const thoughts = entry.reasoning && (
      <Thoughts text={entry.reasoning} seconds={entry.thoughtFor} />
    );
    const problem = endedEarly(entry.ended) || entry.problem;
    if (thoughts && !entry.text.trim() && !problem) {
      return thoughts;
    }
    return (
      <div class={entry.from === 'user' ? 'cw-said cw-said-user' : 'cw-said'}>
        {entry.from === 'user' ? (
          <span class="cw-you">{t('You')}</span>
        ) : (
          speaker && <RolePill role={speaker} />
        )}
        {thoughts}
        <WithFigures figures={entry.figures}>
          <RichText
            text={withoutAssumptions(entry.text, entry.assumptions)}
            most={entry.from === 'user' ? MAX_USER_TEXT : undefined}
          />
        </WithFigures>
        <Attachments entry={entry} />
        <Assumptions of={{ message_id: entry.id }} assumptions={entry.assumptions} />
        {entry.cut && <p class="cw-dim">{t('Only the beginning was saved here.')}</p>}
        {problem && <Note>{visible(problem)}</Note>}
      </div>
    );
  }, [entry, speaker]);
}

/** As `ENDED_EARLY` of the server. */
function endedEarly(cut: string): string | undefined {
  const why: Record<string, string> = {
    stopped: t('Stopped here.'),
    killed: t('Stopped here by a failure.'),
    length: t('Stopped here: too long.'),
    repetition: t('Stopped here: repetition.')
  };
  return why[cut];
}

/** Images, mentions and so on that go with a user's message. */
export function Attachments({ entry }: { entry: TextEntry }): VNode {
  return (
    <>
      <MentionChips mentions={entry.mentions} />
      {entry.pictures.length > 0 && (
        <div class="cw-pictures">
          {entry.pictures.map((address, at) => (
            <img key={at} src={address} alt={t('Image %1 of the message', String(at + 1))} />
          ))}
        </div>
      )}
    </>
  );
}

function Thoughts({ text, seconds }: { text: string; seconds: number }): VNode {
  const summary = seconds < 1 ? t('Thoughts') : t('Thought for %1', duration(seconds));
  return (
    <Fold summary={<span class="cw-dim">{summary}</span>}>
      {() => <p class="cw-thoughts">{visible(text)}</p>}
    </Fold>
  );
}

function Asked({ entry }: { entry: QuestionEntry }): VNode | null {
  // An open question is shown where it can be answered.
  if (entry.answer === undefined) {
    return null;
  }
  const { options } = entry.question;
  const label = options.find(option => option.value === entry.answer)?.label ?? entry.answer;
  return (
    <p class="cw-line">
      <Icon name="question" />
      <span>
        {inline(visible(entry.question.question))}{' '}
        <strong>{label === null ? t('(withdrawn)') : codeSpans(visible(label))}</strong>
      </span>
    </p>
  );
}

const LINES: Record<Exclude<LineEntry['kind'], 'error'>, { icon: string; colour: string }> = {
  decision: { icon: 'check', colour: 'ok' },
  notice: { icon: 'alert', colour: 'grey' },
  plan: { icon: 'check', colour: 'grey' },
  assignment: { icon: 'person', colour: 'grey' },
  outcome: { icon: 'check', colour: 'grey' }
};

function Line({ entry }: { entry: LineEntry }): VNode {
  if (entry.kind === 'error') {
    return <Reason text={entry.text} />;
  }
  const { detail, setAside } = entry;
  if (detail) {
    return (
      <Fold summary={<span class="cw-dim">{visible(entry.text)}</span>}>
        {() => <p class="cw-thoughts">{visible(detail)}</p>}
      </Fold>
    );
  }
  const look = entry.allowed === false ? { icon: 'cross', colour: 'error' } : LINES[entry.kind];
  return (
    <>
      <p class={`cw-line cw-colour-${look.colour}`}>
        <Icon name={look.icon} />
        <span>{visible(entry.text)}</span>
      </p>
      {setAside && <SetAsideNote left={setAside} />}
    </>
  );
}

export function Drafts({ drafts }: { drafts: readonly Draft[] }): VNode {
  return (
    <>
      {drafts.map(draft => (
        <div key={draft.task ?? draft.job ?? ''} class="cw-said" aria-busy="true">
          {draft.role && <RolePill role={draft.role} />}
          {draft.reasoning && (
            <Fold
              summary={<span class="cw-dim">{draft.text ? t('Thoughts') : t('Thinking…')}</span>}
            >
              {() => <StreamText text={draft.reasoning} />}
            </Fold>
          )}
          {draft.text && <StreamText text={draft.text} />}
        </div>
      ))}
    </>
  );
}
