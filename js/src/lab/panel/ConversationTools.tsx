import type { VNode } from 'preact';

import { useAction } from '../../shared/ui/useAction';
import { Button, Failure } from '../../shared/ui/Button';
import { t } from '../../shared/text/translate';
import { usePanel } from './context';
import {
  change,
  EXPORT_FORMATS,
  fileName,
  remove,
  type Conversation,
  type ExportFormat
} from './conversations';

interface ConversationToolsProps {
  conversation: Conversation;
  onRename: () => void;
  onChanged: () => void;
  onDeleted: () => void;
}

/** Actions on a conversation. Deleting needs no confirmation, because it can be undone. */
export function ConversationTools({
  conversation,
  onRename,
  onChanged,
  onDeleted
}: ConversationToolsProps): VNode {
  const { channel, download } = usePanel();
  const working = useAction();
  const { id, title, pinned } = conversation;
  const exportAs = (format: ExportFormat): void => {
    void working.run(() =>
      download(`context/${id}/export?format=${format}`, fileName(title, format))
    );
  };
  return (
    <div class="cw-tools">
      <div class="cw-bar">
        <Button onClick={onRename}>{t('Rename')}</Button>
        <Button
          busy={working.busy}
          onClick={() =>
            void working
              .run(() => change(channel, id, { pinned: !pinned }))
              .then(ok => ok && onChanged())
          }
        >
          {pinned ? t('Unpin') : t('Pin')}
        </Button>
        <ExportMenu busy={working.busy} onChoose={exportAs} />
        <Button
          look="danger"
          busy={working.busy}
          title={t('Stops what is running in it. You can undo this for a few minutes.')}
          onClick={() => void working.run(() => remove(channel, id)).then(ok => ok && onDeleted())}
        >
          {t('Delete')}
        </Button>
      </div>
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
