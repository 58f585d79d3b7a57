/**
 * What cards need from the page around them. Every member is optional: it is missing where the host
 * cannot do it, or where its code would be too large for every card.
 */

import { createContext, type ComponentType } from 'preact';
import { useContext } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import type { CommentsProps } from '../comments/Comments';
import type { MentionsProps } from '../mentions/Mentions';
import type { PlanRef } from '../plan/planRef';
import type { RunState } from '../run/state';

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
  Comments?: ComponentType<CommentsProps>;
  /** Completes `@` and `/` in a field. */
  Mentions?: ComponentType<MentionsProps>;
  /** Offers to remember what the run has shown. */
  Remember?: ComponentType<{ channel: Channel; state: RunState }>;
  /** User settings; missing means everything is allowed. */
  allows?: (what: 'mentions' | 'comments' | 'pictures') => boolean;
  plans?: {
    History: ComponentType<PlanRef>;
    SaveWorkflow: ComponentType<PlanRef>;
  };
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
