import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { submitting } from '../../shared/ui/forms';
import type { Action } from '../../shared/ui/useAction';
import { Button, Failure } from '../../shared/ui/Button';
import { useHost } from '../../shared/card/host';
import { Mentions } from '../card/extras';
import type { MentionPlace } from '../../shared/mentions/Mentions';
import { t } from '../../shared/text/translate';
import { usePanel } from './context';
import { imagesIn, type Pictures } from './images';

interface ComposerProps {
  text: string;
  placeholder: string;
  /** A change focuses the field. */
  focusRequests: number;
  sending: Action;
  /** Where mentions are resolved. */
  place: MentionPlace;
  pictures: Pictures;
  /** Set while a job runs: messages are then queued for the agent's next turn. */
  onStop: (() => void) | null;
  onInput: (text: string) => void;
  onSend: () => void;
  /** The role switcher. */
  children: ComponentChildren;
}

export function Composer(props: ComposerProps): VNode {
  const { text, placeholder, focusRequests, sending, place, pictures, onStop, onInput, onSend } =
    props;
  const { channel } = usePanel();
  const { allows } = useHost();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (focusRequests > 0 && field.current) {
      field.current.focus();
      const { length } = field.current.value;
      field.current.setSelectionRange(length, length);
    }
  }, [focusRequests]);
  // Queued messages cannot have images.
  const canSend = text.trim() !== '' && (onStop === null || pictures.items.length === 0);
  const take = (event: Event, data: DataTransfer | null): void => {
    const images = allows?.('pictures') === false ? [] : imagesIn(data);
    if (images.length > 0) {
      event.preventDefault();
      void pictures.add(images);
    }
  };
  return (
    <form
      class="cw-composer"
      onSubmit={submitting(() => {
        if (canSend) {
          onSend();
        }
      })}
      onDragOver={event => {
        if (event.dataTransfer?.types.includes('Files')) {
          event.preventDefault();
        }
      }}
      onDrop={event => take(event, event.dataTransfer)}
    >
      <textarea
        class="cw-input"
        rows={3}
        ref={field}
        value={text}
        aria-label={t('Your message')}
        placeholder={placeholder}
        onInput={event => onInput(event.currentTarget.value)}
        onPaste={event => take(event, event.clipboardData)}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            if (canSend && !sending.busy) {
              onSend();
            }
          }
        }}
      />
      {allows?.('mentions') !== false && (
        <Mentions channel={channel} place={place} field={field} text={text} />
      )}
      <AttachedImages pictures={pictures} isRunning={onStop !== null} />
      <div class="cw-bar">
        {props.children}
        <span class="cw-grow" />
        {onStop !== null && canSend && (
          <Button disabled={sending.busy} onClick={onSend}>
            {t('Queue')}
          </Button>
        )}
        {/* One replaces the other in place, so that keyboard focus stays. */}
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
      <Failure error={sending.error ?? pictures.error} />
    </form>
  );
}

/** Attached images. Warns before sending if the model cannot see them. */
function AttachedImages({
  pictures,
  isRunning
}: {
  pictures: Pictures;
  isRunning: boolean;
}): VNode {
  const answerer = usePanel().answerer();
  const { items } = pictures;
  return (
    <>
      {items.length > 0 && (
        <ul class="cw-pictures" aria-label={t('Images')}>
          {items.map((picture, at) => (
            <li key={picture.data.slice(-64)}>
              <img
                src={`data:${picture.media_type};base64,${picture.data}`}
                alt={t('Image %1', String(at + 1))}
              />
              <Button
                look="link"
                label={t('Remove image %1', String(at + 1))}
                onClick={() => pictures.remove(picture)}
              >
                ×
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div role="status">
        {items.length > 0 && answerer && !answerer.sees && (
          <p class="cw-dim">
            {t(
              '%1 cannot see images. It is only told that there are some.',
              answerer.name ?? t('This model')
            )}
          </p>
        )}
        {items.length > 0 && isRunning && (
          <p class="cw-dim">{t('You can send images when the run has ended.')}</p>
        )}
      </div>
    </>
  );
}
