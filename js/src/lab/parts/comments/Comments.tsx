import type { RefObject, VNode } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';

import { submitting } from '../../../shared/ui/forms';
import { useAction } from '../../../shared/ui/useAction';
import { Button, Failure } from '../../../shared/ui/Button';
import { useRun } from '../../../shared/run/context';
import { counted, t } from '../../../shared/text/translate';
import { oneLine } from '../../../shared/text/visible';
import { asMessage, COMMENTABLE, commented, placeOf, selectedIn, type Place } from './targets';

interface Comment extends Place {
  text: string;
}

/** By card id: comments survive a re-render and switching to another card. */
const written = new Map<string, Comment[]>();

/**
 * Comments on parts of a card: a button at the selection or focused part, the key `C`, and a bar
 * that sends all of them as one message.
 */
export function Comments({ root, id }: { root: RefObject<HTMLElement>; id: string }): VNode {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const [near, setNear] = useState<{ element: HTMLElement; top: number } | null>(null);
  const [place, setPlace] = useState<Place | null>(null);
  const comments = written.get(id) ?? [];
  const keep = (changed: Comment[]): void => {
    written.set(id, changed);
    draw(undefined);
  };
  const leave = (element: HTMLElement | undefined): void => {
    setPlace(null);
    setNear(null);
    (element?.matches('[tabindex]') ? element : null)?.focus();
  };
  usePlaces(root, setNear, setPlace);
  return (
    <>
      {near && !place && (
        <button
          type="button"
          class="cw-button cw-comment-here"
          style={{ top: `${near.top}px` }}
          onMouseDown={event => event.preventDefault()}
          onClick={() => setPlace(commented(near.element))}
        >
          {t('Comment')}
        </button>
      )}
      {place && (
        <Write
          place={place}
          onAdd={text => {
            keep([...comments, { ...place, text }]);
            leave(place.element);
          }}
          onCancel={() => leave(place.element)}
        />
      )}
      {comments.length > 0 && <Bar comments={comments} onChange={keep} />}
    </>
  );
}

/** Tracks which part of the card the user is in. */
function usePlaces(
  root: RefObject<HTMLElement>,
  onNear: (near: { element: HTMLElement; top: number } | null) => void,
  onComment: (place: Place) => void
): void {
  const handlers = useRef({ onNear, onComment });
  handlers.current = { onNear, onComment };
  useEffect(() => {
    const card = root.current;
    if (card === null) {
      return undefined;
    }
    const page = card.ownerDocument;
    const look = (): void => {
      const focused = page.activeElement;
      if (focused?.closest('.cw-comment-here, .cw-comments')) {
        return;
      }
      const range = selectedIn(page);
      const at = range?.startContainer ?? (focused?.matches(COMMENTABLE) ? focused : null);
      const element = at && placeOf(at, card);
      const box = (range ?? element)?.getBoundingClientRect();
      const top = (box?.top ?? 0) - card.getBoundingClientRect().top;
      handlers.current.onNear(element ? { element, top: Math.max(0, top - 30) } : null);
    };
    const onKey = (event: KeyboardEvent): void => {
      const { target, key, ctrlKey, metaKey, altKey } = event;
      const isPlace = target instanceof HTMLElement && target.matches(COMMENTABLE);
      if (isPlace && key.toLowerCase() === 'c' && !ctrlKey && !metaKey && !altKey) {
        event.preventDefault();
        event.stopPropagation();
        handlers.current.onComment(commented(target));
      }
    };
    page.addEventListener('selectionchange', look);
    card.addEventListener('focusin', look);
    card.addEventListener('focusout', look);
    card.addEventListener('keydown', onKey);
    look();
    return () => {
      page.removeEventListener('selectionchange', look);
      card.removeEventListener('focusin', look);
      card.removeEventListener('focusout', look);
      card.removeEventListener('keydown', onKey);
    };
  }, [root]);
}

interface WriteProps {
  place: Place;
  onAdd: (text: string) => void;
  onCancel: () => void;
}

function Write({ place, onAdd, onCancel }: WriteProps): VNode {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const add = (): void => {
    if (text.trim()) {
      onAdd(text.trim());
    }
  };
  return (
    <form class="cw-comments cw-write" onSubmit={submitting(add)}>
      <textarea
        class="cw-input"
        rows={2}
        ref={field}
        value={text}
        aria-label={t('Your comment on %1', oneLine(place.name, 100))}
        placeholder={t('Your comment on %1', oneLine(place.name, 100))}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            add();
          } else if (event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            onCancel();
          }
        }}
      />
      <Button look="primary" disabled={!text.trim()} onClick={add}>
        {t('Add comment')}
      </Button>
      <Button onClick={onCancel}>{t('Cancel')}</Button>
    </form>
  );
}

function Bar({
  comments,
  onChange
}: {
  comments: readonly Comment[];
  onChange: (comments: Comment[]) => void;
}): VNode {
  const { actions } = useRun();
  const sending = useAction();
  const send = (): void => {
    void sending.run(() => actions.tell(asMessage(comments))).then(ok => ok && onChange([]));
  };
  return (
    <div class="cw-comments" role="group" aria-label={t('Comments')}>
      <ul>
        {comments.map((comment, at) => (
          <li key={at}>
            <span class="cw-dim">{oneLine(comment.name, 100)}:</span>
            {` ${oneLine(comment.text, 300)} `}
            <Button
              look="link"
              label={t('Remove the comment on %1', oneLine(comment.name, 100))}
              onClick={() => onChange(comments.filter(one => one !== comment))}
            >
              ×
            </Button>
          </li>
        ))}
      </ul>
      <div class="cw-bar">
        <span>{counted(comments.length, '%1 comment', '%1 comments')}</span>
        <Button look="primary" busy={sending.busy} onClick={send}>
          {t('Send')}
        </Button>
        <Button disabled={sending.busy} onClick={() => onChange([])}>
          {t('Discard')}
        </Button>
      </div>
      <Failure error={sending.error} />
    </div>
  );
}
