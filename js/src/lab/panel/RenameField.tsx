import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { submitting } from '../../shared/ui/forms';
import { useAction } from '../../shared/ui/useAction';
import { Failure } from '../../shared/ui/Button';
import { t } from '../../shared/text/translate';
import { usePanel } from './context';
import { change, type Conversation } from './conversations';

interface RenameFieldProps {
  conversation: Pick<Conversation, 'id' | 'title'>;
  onDone: (isRenamed: boolean) => void;
}

/** Replaces the name in place. Enter and blur save, Escape cancels. */
export function RenameField({ conversation, onDone }: RenameFieldProps): VNode {
  const { channel } = usePanel();
  const { id, title: before } = conversation;
  const [text, setText] = useState(before);
  const saving = useAction();
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const done = (isRenamed: boolean): void => {
    isDone.current = true;
    const place = field.current?.closest('.cw-conversation');
    const hasKeyboard = document.activeElement === field.current;
    onDone(isRenamed);
    if (hasKeyboard) {
      requestAnimationFrame(() => place?.querySelector<HTMLElement>('.cw-plain')?.focus());
    }
  };
  const save = (): void => {
    const title = text.trim();
    if (isDone.current || saving.busy) {
      return; // the field is leaving, and loses the focus as it goes
    }
    if (!title || title === before) {
      done(false);
    } else {
      void saving.run(() => change(channel, id, { title })).then(ok => ok && done(true));
    }
  };
  return (
    <form class="cw-rename" onSubmit={submitting(save)}>
      <input
        type="text"
        class="cw-input"
        value={text}
        maxLength={200}
        aria-label={t('Name of the conversation')}
        aria-busy={saving.busy}
        onInput={event => setText(event.currentTarget.value)}
        onBlur={save}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            done(false);
          }
        }}
        ref={field}
      />
      <Failure error={saving.error} />
    </form>
  );
}
