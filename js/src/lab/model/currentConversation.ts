/** Tracks the conversation that the user looks at, and its current role. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel } from '../../shared/channel/channel';
import type { Page } from '../../shared/types';
import type { PanelState } from '../panel/panelState';
import { includesEvent, type IActivityFeed } from './activityFeed';
import { lastUsed, openConversation, type Conversation } from '../panel/conversations';

const RELEVANT_EVENTS = ['job-started', 'role-changed'];

/** A conversation, or a notebook's most recent one. */
export type Place = { context: string } | { notebook: string };

type Addressed = Pick<Conversation, 'id' | 'role'>;

export interface ICurrentConversation {
  readonly conversation: Addressed | null;
  readonly changed: ISignal<unknown, void>;
  /** Null if the user looks at something without a conversation. */
  lookAt(place: Place | null): void;
  switchRole(role: string, confirm: boolean): Promise<void>;
}

export class CurrentConversation implements ICurrentConversation {
  conversation: Addressed | null = null;
  private readonly _changed = new Signal<CurrentConversation, void>(this);
  private place: Place | null = null;
  private isAwake = false;

  constructor(
    private readonly channel: Channel,
    feed: IActivityFeed
  ) {
    // Without activity the page shows nothing of ours, and asks nothing.
    feed.activity.connect((_, happened) => {
      this.isAwake = true;
      if (includesEvent(happened, RELEVANT_EVENTS)) {
        void this.ask();
      }
    });
  }

  get changed(): ISignal<CurrentConversation, void> {
    return this._changed;
  }

  lookAt(place: Place | null): void {
    this.place = place;
    this.show(null);
    if (this.isAwake) {
      void this.ask();
    }
  }

  async switchRole(role: string, confirm: boolean): Promise<void> {
    await this.channel.request(
      'POST',
      `context/${this.conversation?.id}/role`,
      confirm ? { role, confirm } : { role }
    );
    await this.ask();
  }

  private async ask(): Promise<void> {
    const { place } = this;
    const found = place && (await this.find(place).catch(() => null));
    if (place === this.place) {
      this.show(found);
    }
  }

  private async find(place: Place): Promise<Addressed | null> {
    if ('context' in place) {
      return openConversation(this.channel, place.context);
    }
    const { items } = await this.channel.request<Page<Conversation>>(
      'GET',
      `context?notebook=${encodeURIComponent(place.notebook)}`
    );
    return lastUsed(items) ?? null;
  }

  private show(conversation: Addressed | null): void {
    this.conversation = conversation;
    this._changed.emit();
  }
}

/** Follows what the user turned to last: a conversation in the panel, or a notebook. */
export function followView(
  currentConversation: ICurrentConversation,
  place: PanelState,
  notebooks: INotebookTracker | null
): void {
  let shown: string | null = null;
  const lookAtNotebook = (): void => {
    const path = notebooks?.currentWidget?.context.path;
    currentConversation.lookAt(path === undefined ? null : { notebook: path });
  };
  place.changed.connect(() => {
    if (place.context === shown) {
      return; // it was something else about the panel
    }
    shown = place.context;
    if (shown === null) {
      lookAtNotebook();
    } else {
      currentConversation.lookAt({ context: shown });
    }
  });
  notebooks?.currentChanged.connect(lookAtNotebook);
}
