/** What cards ask of the page around them. */

import { createContext, type ComponentType } from 'preact';
import { useContext } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import type { CommentsProps } from '../comments/Comments';
import type { MentionsProps } from '../mentions/Mentions';
import type { PlanPlace } from '../plan/place';
import type { RunState } from '../run/state';

export interface CardHost {
  /**
   * Draws Markdown of strangers with the host's own means (highlighting, diagrams), sanitised.
   * Without it cards draw a plain subset themselves.
   */
  Markdown?: ComponentType<{ text: string }>;
  /**
   * Restarts the kernel, once the user has agreed, and runs all that stands above the card. Missing
   * where the page cannot.
   */
  restartAndRunToHere?: () => Promise<void>;
  /**
   * Puts code into a new cell: below the card's, or below the one the user is in. Missing where
   * there is no notebook to change.
   */
  insertCell?: (source: string) => Promise<void>;
  /**
   * The path of the notebook that the card stands in, which may change. Missing where it stands in
   * none of the server's.
   */
  notebook?: () => string;
  /** Comments on what a card shows. Missing where its code would be too much for every card. */
  Comments?: ComponentType<CommentsProps>;
  /** Completes `@` and `/` in a field. Missing for the same reason. */
  Mentions?: ComponentType<MentionsProps>;
  /** Offers to remember what a run has shown. Missing for the same reason. */
  Remember?: ComponentType<{ channel: Channel; state: RunState }>;
  /** Whether the user wants it. Missing where there are no settings: then all of it. */
  allows?: (what: 'mentions' | 'comments' | 'pictures') => boolean;
  /** How plans came about, and a life as workflows. Missing for the same reason. */
  plans?: {
    History: ComponentType<PlanPlace>;
    SaveWorkflow: ComponentType<PlanPlace>;
  };
  /** Shows a conversation beside the notebook. Missing where there is no such place. */
  openConversation?: (contextId: string) => void;
  /** Brings a cell of the card's notebook into view. Missing where there is none. */
  showCell?: (cellId: string) => void;
}

const Context = createContext<CardHost>({});

export const HostProvider = Context.Provider;

export function useHost(): CardHost {
  return useContext(Context);
}
