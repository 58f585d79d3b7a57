/**
 * What cards need from the page around them. Every member is optional: it is missing where the host
 * cannot do it, or where its code would be too large for every card.
 */

import { createContext, type ComponentType, type RefObject } from 'preact';
import { useContext } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import type { MentionsProps } from '../mentions/Mentions';
import type { PlanRef } from '../plan/planRef';
import type { RunState } from '../run/state';

export interface CardLine {
  channel: Channel;
  state: RunState;
}

export interface CardHost {
  /**
   * Renders untrusted Markdown, sanitised, with the host's highlighting and diagrams. Without it
   * cards render a plain subset themselves.
   */
  Markdown?: ComponentType<{ text: string }>;
  /** Asks the user, then restarts the kernel and runs everything above the card. */
  restartAndRunToHere?: () => Promise<void>;
  /** Inserts code as a new cell: below the card's cell, or below the active one. */
  insertCell?: (source: string) => Promise<void>;
  /** Path of the card's notebook, which may change; missing if it is not on this server. */
  notebook?: () => string;
  /** Lets parts of a card be commented on; `id` is the card's. */
  Comments?: ComponentType<{ root: RefObject<HTMLElement>; id: string }>;
  /** Completes `@` and `/` in a field. */
  Mentions?: ComponentType<MentionsProps>;
  /** What the card of a run is followed by. */
  lines?: readonly ComponentType<CardLine>[];
  /** User settings; missing means everything is allowed. */
  allows?: (what: 'mentions' | 'comments' | 'pictures') => boolean;
  History?: ComponentType<PlanRef>;
  SaveWorkflow?: ComponentType<PlanRef>;
  /** Opens a conversation in the panel. */
  openConversation?: (contextId: string) => void;
  /** Scrolls to a cell of the card's notebook. */
  showCell?: (cellId: string) => void;
}

const Context = createContext<CardHost>({});

export const HostProvider = Context.Provider;

export function useHost(): CardHost {
  return useContext(Context);
}
