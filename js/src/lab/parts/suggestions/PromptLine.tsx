import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import type { Channel } from '../../../shared/channel/channel';
import { Mentions } from '../../card/extras';
import type { MentionPlace } from '../../../shared/mentions/Mentions';
import { t } from '../../../shared/text/translate';

/** For completing `@` and `/`. */
export interface MentionSource {
  channel: Channel;
  place: MentionPlace;
}

interface PromptLineProps {
  text: string;
  /** Says whether the cell is written or changed. */
  placeholder: string;
  /** Null if switched off. */
  mentions: MentionSource | null;
  onInput: (text: string) => void;
  onSend: () => void;
  onClose: () => void;
}

/** The prompt above a cell's code. */
export function PromptLine({
  text,
  placeholder,
  mentions,
  onInput,
  onSend,
  onClose
}: PromptLineProps): VNode {
  const field = useRef<HTMLInputElement>(null);
  // Layout effect: the next key is meant for the field.
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
