import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import type { Channel } from '../../shared/channel/channel';
import { Mentions } from '../../shared/lazyComponents';
import type { MentionPlace } from '../../shared/mentions/Mentions';
import { t } from '../../shared/text/translate';

/** What `@` and `/` in the line are completed from. */
export interface MentionSource {
  channel: Channel;
  place: MentionPlace;
}

interface PromptLineProps {
  text: string;
  /** Says what would happen: the cell is written, or changed. */
  placeholder: string;
  /** None if the user does not want it. */
  mentions: MentionSource | null;
  onInput: (text: string) => void;
  onSend: () => void;
  onClose: () => void;
}

/** The line above a cell's code in which the user says what to write or change. */
export function PromptLine({
  text,
  placeholder,
  mentions,
  onInput,
  onSend,
  onClose
}: PromptLineProps): VNode {
  const field = useRef<HTMLInputElement>(null);
  // At once: the next key is meant for it.
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <>
      <input
        class="cw-input cw-prompt-line"
        ref={field}
        value={text}
        placeholder={placeholder}
        aria-label={t('What should Cowork do with this cell?')}
        autocomplete="off"
        spellcheck={false}
        data-lm-suppress-shortcuts="true"
        onInput={event => onInput(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.isComposing || event.defaultPrevented) {
            return;
          }
          if (event.key === 'Enter') {
            event.preventDefault();
            onSend();
          } else if (event.key === 'Escape') {
            event.preventDefault();
            onClose();
          }
        }}
      />
      {mentions !== null && <Mentions {...mentions} field={field} text={text} />}
    </>
  );
}
