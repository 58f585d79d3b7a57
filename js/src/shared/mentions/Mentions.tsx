import type { RefObject, VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import { counted, t } from '../text/translate';
import type { Mention, CompletionItem, CompletionItems, Page } from '../types';
import { oneLine } from '../text/visible';
import { MentionChips } from './Chips';
import { mayMention, typedAt, type Typed } from './typed';

type Field = HTMLTextAreaElement | HTMLInputElement;

/** Where a message is written, which says what it can point at. */
export interface MentionPlace {
  /** The conversation; without one the message begins one. */
  context?: string | undefined;
  /** Of a message that begins a conversation. */
  notebook?: string | null | undefined;
  /** Who would get it: nothing is offered that this role may not read. */
  role?: string | undefined;
}

export interface MentionsProps {
  channel: Channel;
  place: MentionPlace;
  /** What is typed in. Keys that the list takes do not reach its other listeners. */
  field: RefObject<Field>;
  /** What it holds. */
  text: string;
}

/** Milliseconds without a key, after which a draft is looked at. */
const PAUSE = 400;
/** What the kernel did not answer at once is asked for so many times more. */
const MOST_TIMES = 3;

/**
 * Completes `@` and `/` in a field, and shows what its text points at. It stands behind the field
 * and needs nothing else of it: what is taken is typed in.
 */
export function Mentions({ channel, place, field, text }: MentionsProps): VNode {
  const { offers, active, choose, take, id } = useOffers(channel, place, field);
  const mentions = useMentioned(channel, place, text);
  return (
    <>
      {offers.length > 0 && (
        <ul class="cw-offers" role="listbox" id={id} aria-label={t('Suggestions')}>
          {offers.map((offer, at) => (
            <li
              key={offer.text}
              id={`${id}-${at}`}
              class="cw-offer"
              role="option"
              aria-selected={at === active}
              onPointerMove={() => choose(at)}
              // The field keeps the keyboard.
              onMouseDown={event => event.preventDefault()}
              onClick={() => take(offer)}
            >
              <span class="cw-offer-text">{oneLine(offer.text, 120)}</span>{' '}
              <span class="cw-dim">{oneLine(offer.title, 120)}</span>
            </li>
          ))}
        </ul>
      )}
      <span class="cw-sr" role="status">
        {offers.length > 0 && counted(offers.length, '%1 suggestion', '%1 suggestions')}
      </span>
      <MentionChips mentions={mentions} />
    </>
  );
}

interface Completing {
  offers: readonly CompletionItem[];
  active: number;
  id: string;
  choose(at: number): void;
  take(offer: CompletionItem): void;
}

function useOffers(channel: Channel, place: MentionPlace, field: RefObject<Field>): Completing {
  const [offers, setOffers] = useState<readonly CompletionItem[]>([]);
  const [active, setActive] = useState(0);
  const id = `cw-offers-${useId()}`;
  const typed = useRef<Typed | null>(null);
  const close = (): void => {
    typed.current = null;
    setOffers([]);
  };

  const look = (again = 0): void => {
    const { current } = field;
    const { selectionStart: cursor, selectionEnd } = current ?? {};
    const now =
      current && typeof cursor === 'number' && cursor === selectionEnd
        ? typedAt(current.value, cursor)
        : null;
    if (now === null) {
      close();
      return;
    }
    typed.current = now;
    const notebook = place.context ? null : place.notebook;
    const query = { q: now.text, role: place.role, notebook };
    channel.request<CompletionItems>('GET', `${addressOf(place)}?${queryOf(query)}`).then(
      ({ items, more }) => {
        // What was typed meanwhile has its own question, and what is there already needs no list.
        if (typed.current === now) {
          setOffers(items.length === 1 && items[0]?.text === now.text ? [] : items);
          setActive(0);
          if (more && again < MOST_TIMES) {
            setTimeout(() => typed.current === now && look(again + 1), PAUSE);
          }
        }
      },
      () => typed.current === now && close()
    );
  };

  const take = (offer: CompletionItem): void => {
    const { current } = field;
    const now = typed.current;
    if (current === null || now === null) {
      return;
    }
    const isFolder = offer.kind === 'folder';
    close();
    type(current, now, isFolder ? offer.text.replace(/"$/, '') : `${offer.text} `);
  };

  const onKey = (event: KeyboardEvent): void => {
    const chosen = offers[active];
    if (chosen === undefined || event.isComposing || event.shiftKey) {
      return;
    }
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: offers.length - 1 };
    const step = steps[event.key];
    if (step !== undefined) {
      setActive((active + step) % offers.length);
    } else if (event.key === 'Enter' || event.key === 'Tab') {
      take(chosen);
    } else if (event.key === 'Escape') {
      close();
    } else {
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  const handlers = useRef({ look, close, onKey });
  handlers.current = { look, close, onKey };
  useEffect(() => {
    const { current } = field;
    const listeners: Record<string, (event: Event) => void> = {
      input: () => handlers.current.look(),
      blur: () => handlers.current.close(),
      click: () => handlers.current.close()
    };
    // Before the others, so that Enter takes what is chosen and does not send.
    const onKeyDown = (event: Event): void => handlers.current.onKey(event as KeyboardEvent);
    for (const [name, listener] of Object.entries(listeners)) {
      current?.addEventListener(name, listener);
    }
    current?.addEventListener('keydown', onKeyDown, true);
    return () => {
      current?.removeEventListener('keydown', onKeyDown, true);
      for (const [name, listener] of Object.entries(listeners)) {
        current?.removeEventListener(name, listener);
      }
    };
  }, [field]);
  useEffect(() => {
    // It may have been loaded for what is typed already.
    if (field.current && field.current === field.current.ownerDocument.activeElement) {
      handlers.current.look();
    }
  }, [field]);
  useEffect(() => sayChoice(field.current, id, offers.length > 0 ? active : null));
  return { offers, active, id, choose: setActive, take };
}

/** A text field cannot be called a combobox: it says the rest, and the list is announced. */
function sayChoice(field: Field | null, id: string, active: number | null): void {
  if (field === null) {
    return;
  }
  if (field instanceof HTMLInputElement) {
    field.setAttribute('role', 'combobox');
    field.setAttribute('aria-expanded', String(active !== null));
  }
  field.setAttribute('aria-autocomplete', 'list');
  if (active === null) {
    field.removeAttribute('aria-controls');
    field.removeAttribute('aria-activedescendant');
  } else {
    field.setAttribute('aria-controls', id);
    field.setAttribute('aria-activedescendant', `${id}-${active}`);
    field.ownerDocument.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }
}

/** As if the user had typed it, so that it can be undone. */
function type(field: Field, { start, text }: Typed, typed: string): void {
  field.focus();
  field.setSelectionRange(start, start + text.length);
  const page = field.ownerDocument;
  if (!page.execCommand?.('insertText', false, typed)) {
    field.setRangeText(typed, start, start + text.length, 'end');
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

function useMentioned(channel: Channel, place: MentionPlace, text: string): readonly Mention[] {
  const [mentions, setMentions] = useState<readonly Mention[]>([]);
  const { context, notebook, role } = place;
  useEffect(() => {
    if (!mayMention(text)) {
      setMentions([]);
      return undefined;
    }
    let isNewest = true;
    const body = {
      content: text.slice(0, 100_000),
      ...(role ? { role } : {}),
      ...(notebook && !context ? { notebook } : {})
    };
    const timer = setTimeout(() => {
      channel.request<Page<Mention>>('POST', addressOf({ context }), body).then(
        ({ items }) => isNewest && setMentions(items),
        () => undefined
      );
    }, PAUSE);
    return () => {
      isNewest = false;
      clearTimeout(timer);
    };
  }, [channel, context, notebook, role, text]);
  return mentions;
}

function addressOf({ context }: MentionPlace): string {
  return context ? `context/${context}/mentions` : 'mentions';
}

function queryOf(values: Record<string, string | null | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value);
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&');
}
