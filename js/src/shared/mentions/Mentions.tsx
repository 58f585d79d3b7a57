import type { RefObject, VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import { counted, t } from '../text/translate';
import type { Mention, CompletionItem, CompletionItems, Page } from '../types';
import { oneLine } from '../text/visible';
import { MentionChips } from './Chips';
import { mayMention, mentionAt, type TypedMention } from './mentionAt';

type Field = HTMLTextAreaElement | HTMLInputElement;

/** Where a message is written; determines what it can mention. */
export interface MentionPlace {
  /** Missing for a message that starts a conversation. */
  context?: string | undefined;
  /** Only for a message that starts a conversation. */
  notebook?: string | null | undefined;
  /** Who gets the message: only what this role may read is offered. */
  role?: string | undefined;
}

export interface MentionsProps {
  channel: Channel;
  place: MentionPlace;
  /** Keys that the list handles do not reach the field's other listeners. */
  field: RefObject<Field>;
  text: string;
}

/** Milliseconds of idle time before a draft's mentions are resolved. */
const PAUSE = 400;
/** Retries for what a busy kernel did not answer in time. */
const MAX_RETRIES = 3;

/**
 * Completes `@` and `/` in a field, and shows what its text mentions. It only needs the field:
 * choosing an item types it.
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
              // Keep the focus in the field.
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
  const typed = useRef<TypedMention | null>(null);
  const close = (): void => {
    typed.current = null;
    setOffers([]);
  };

  const look = (again = 0): void => {
    const { current } = field;
    const { selectionStart: cursor, selectionEnd } = current ?? {};
    const now =
      current && typeof cursor === 'number' && cursor === selectionEnd
        ? mentionAt(current.value, cursor)
        : null;
    if (now === null) {
      close();
      return;
    }
    typed.current = now;
    const notebook = place.context ? null : place.notebook;
    const query = { q: now.text, role: place.role, notebook };
    channel.request<CompletionItems>('GET', `${planUrl(place)}?${queryOf(query)}`).then(
      ({ items, more }) => {
        // Ignore answers to outdated input, and lists that only repeat what is typed.
        if (typed.current === now) {
          setOffers(items.length === 1 && items[0]?.text === now.text ? [] : items);
          setActive(0);
          if (more && again < MAX_RETRIES) {
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
    // Capture phase, so that Enter accepts the item instead of sending the message.
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
    // The component may have been loaded after typing began.
    if (field.current && field.current === field.current.ownerDocument.activeElement) {
      handlers.current.look();
    }
  }, [field]);
  useEffect(() => sayChoice(field.current, id, offers.length > 0 ? active : null));
  return { offers, active, id, choose: setActive, take };
}

/** A textarea cannot be a combobox, so announce the active item with ARIA attributes. */
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

/** Typed through the editor, so that it can be undone. */
function type(field: Field, { start, text }: TypedMention, typed: string): void {
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
      channel.request<Page<Mention>>('POST', planUrl({ context }), body).then(
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

function planUrl({ context }: MentionPlace): string {
  return context ? `context/${context}/mentions` : 'mentions';
}

function queryOf(values: Record<string, string | null | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value);
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&');
}
