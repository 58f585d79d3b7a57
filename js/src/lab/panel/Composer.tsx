import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { Action } from '../../shared/action';
import { Button, Failure } from '../../shared/Button';
import { t } from '../../shared/translate';

interface ComposerProps {
  text: string;
  placeholder: string;
  /** Grows when the field should get the keyboard. */
  summons: number;
  sending: Action;
  /** While a job runs it can be stopped, and what is sent waits for the agent's next turn. */
  onStop: (() => void) | null;
  onInput: (text: string) => void;
  onSend: () => void;
  /** The role that would answer, to be switched here. */
  children: ComponentChildren;
}

/** Where one writes to the agent. */
export function Composer({
  text,
  placeholder,
  summons,
  sending,
  onStop,
  onInput,
  onSend,
  children
}: ComposerProps): VNode {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (summons > 0 && field.current) {
      field.current.focus();
      const { length } = field.current.value;
      field.current.setSelectionRange(length, length);
    }
  }, [summons]);
  const canSend = text.trim() !== '';
  return (
    <form
      class="cw-composer"
      onSubmit={event => {
        event.preventDefault();
        if (canSend) {
          onSend();
        }
      }}
    >
      <textarea
        class="cw-input"
        rows={3}
        ref={field}
        value={text}
        aria-label={t('Your message')}
        placeholder={placeholder}
        onInput={event => onInput(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            if (canSend && !sending.busy) {
              onSend();
            }
          }
        }}
      />
      <div class="cw-bar">
        {children}
        <span class="cw-grow" />
        {onStop !== null && canSend && (
          <Button disabled={sending.busy} onClick={onSend}>
            {t('Queue')}
          </Button>
        )}
        {/* One in the place of the other, so that the keyboard stays where it was. */}
        {onStop === null ? (
          <Button look="primary" busy={sending.busy} disabled={!canSend} onClick={onSend}>
            {t('Send')}
          </Button>
        ) : (
          <Button icon="stop" busy={sending.busy} onClick={onStop}>
            {t('Stop')}
          </Button>
        )}
      </div>
      <Failure error={sending.error} />
    </form>
  );
}
