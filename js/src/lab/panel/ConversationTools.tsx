import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { useAction } from '../../shared/action';
import { Button, Failure } from '../../shared/Button';
import { t } from '../../shared/translate';
import { usePanel } from './context';
import {
  EXPORT_FORMATS,
  fileName,
  remove,
  rename,
  type Conversation,
  type ExportFormat
} from './conversations';

interface ConversationToolsProps {
  conversation: Conversation;
  onRenamed: (conversation: Conversation) => void;
  onDeleted: () => void;
}

/** What can be done with a whole conversation. Deleting asks once more: nothing brings it back. */
export function ConversationTools({
  conversation,
  onRenamed,
  onDeleted
}: ConversationToolsProps): VNode {
  const { channel, download } = usePanel();
  const working = useAction();
  const [open, setOpen] = useState<'none' | 'rename' | 'delete'>('none');
  const toggle = (what: 'rename' | 'delete'): void => setOpen(open === what ? 'none' : what);
  const exportAs = (format: ExportFormat): void => {
    void working.run(() =>
      download(
        `context/${conversation.id}/export?format=${format}`,
        fileName(conversation.title, format)
      )
    );
  };
  return (
    <div class="cw-tools">
      <div class="cw-bar">
        <Button expanded={open === 'rename'} onClick={() => toggle('rename')}>
          {t('Rename')}
        </Button>
        <ExportMenu busy={working.busy} onChoose={exportAs} />
        <Button look="danger" expanded={open === 'delete'} onClick={() => toggle('delete')}>
          {t('Delete…')}
        </Button>
      </div>
      {open === 'rename' && (
        <Rename
          title={conversation.title}
          busy={working.busy}
          onSave={title =>
            void working
              .run(async () => onRenamed(await rename(channel, conversation.id, title)))
              .then(ok => ok && setOpen('none'))
          }
        />
      )}
      {open === 'delete' && (
        <div class="cw-bar" role="alertdialog" aria-label={t('Delete this conversation')}>
          <span>{t('Delete it with all its messages and checkpoints?')}</span>
          <Button
            look="danger"
            busy={working.busy}
            onClick={() =>
              void working.run(() => remove(channel, conversation.id)).then(ok => ok && onDeleted())
            }
          >
            {t('Delete')}
          </Button>
          <Button onClick={() => setOpen('none')}>{t('Keep')}</Button>
        </div>
      )}
      <Failure error={working.error} />
    </div>
  );
}

function ExportMenu({
  busy,
  onChoose
}: {
  busy: boolean;
  onChoose: (format: ExportFormat) => void;
}): VNode {
  const words: Record<ExportFormat, string> = {
    md: t('Markdown'),
    ipynb: t('Notebook'),
    jsonl: t('JSON Lines')
  };
  return (
    <select
      class="cw-button cw-select"
      aria-label={t('Export')}
      aria-busy={busy}
      value=""
      onChange={event => {
        const format = event.currentTarget.value as ExportFormat;
        event.currentTarget.value = '';
        onChoose(format);
      }}
    >
      <option value="" disabled hidden>
        {t('Export')}
      </option>
      {EXPORT_FORMATS.map(format => (
        <option key={format} value={format}>
          {words[format]}
        </option>
      ))}
    </select>
  );
}

function Rename({
  title,
  busy,
  onSave
}: {
  title: string;
  busy: boolean;
  onSave: (title: string) => void;
}): VNode {
  const [text, setText] = useState(title);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const save = (): void => {
    if (text.trim()) {
      onSave(text.trim());
    }
  };
  return (
    <form
      class="cw-write"
      onSubmit={event => {
        event.preventDefault();
        save();
      }}
    >
      <input
        type="text"
        class="cw-input"
        value={text}
        maxLength={200}
        aria-label={t('Name of the conversation')}
        onInput={event => setText(event.currentTarget.value)}
        ref={field}
      />
      <Button look="primary" busy={busy} disabled={!text.trim()} onClick={save}>
        {t('Save')}
      </Button>
    </form>
  );
}
