import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { useAction } from '../../../shared/ui/useAction';
import { Button, Failure } from '../../../shared/ui/Button';
import { t } from '../../../shared/text/translate';

interface MemoryEditorProps {
  text: string;
  /** Label of the save button. */
  action: string;
  onSave: (text: string) => Promise<unknown>;
  onCancel: () => void;
}

export function MemoryEditor({ text, action, onSave, onCancel }: MemoryEditorProps): VNode {
  const saving = useAction();
  const [draft, setDraft] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div class="cw-form">
      <textarea
        ref={field}
        class="cw-input cw-memory-text"
        rows={12}
        value={draft}
        aria-label={t('What is remembered, as Markdown')}
        onInput={event => setDraft(event.currentTarget.value)}
      />
      <Failure error={saving.error} />
      <div class="cw-bar">
        <Button
          look="primary"
          busy={saving.busy}
          onClick={() => void saving.run(() => onSave(draft))}
        >
          {action}
        </Button>
        <Button onClick={onCancel}>{t('Cancel')}</Button>
      </div>
    </div>
  );
}
