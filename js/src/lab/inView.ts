/** The conversation that the user looks at, and who gets the next message there. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel } from '../shared/channel';
import type { Page } from '../shared/types';
import { tells, type INews } from './news';
import {
  addresseeOf,
  lastUsed,
  type Conversation,
  type OpenConversation
} from './panel/conversations';

const OF_INTEREST = ['job-started', 'role-changed'];

/** A conversation, or a notebook with the conversation that it has. */
export type Place = { context: string } | { notebook: string };

type Addressed = Pick<OpenConversation, 'id' | 'addressee'>;

export interface IInView {
  readonly conversation: Addressed | null;
  readonly changed: ISignal<unknown, void>;
  /** The user has turned there; null where no conversation can be. */
  lookAt(place: Place | null): void;
  switchRole(role: string, confirm: boolean): Promise<void>;
}

export class InView implements IInView {
  conversation: Addressed | null = null;
  private readonly _changed = new Signal<InView, void>(this);
  private place: Place | null = null;
  private isAwake = false;

  constructor(
    private readonly channel: Channel,
    news: INews
  ) {
    // A page that has nothing of ours hears no news, and asks nothing.
    news.happened.connect((_, happened) => {
      this.isAwake = true;
      if (tells(happened, OF_INTEREST)) {
        void this.ask();
      }
    });
  }

  get changed(): ISignal<InView, void> {
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
    const id = 'context' in place ? place.context : await this.idOf(place.notebook);
    return id === undefined ? null : { id, addressee: await addresseeOf(this.channel, id) };
  }

  private async idOf(notebook: string): Promise<string | undefined> {
    const { items } = await this.channel.request<Page<Conversation>>(
      'GET',
      `context?notebook=${encodeURIComponent(notebook)}`
    );
    return lastUsed(items)?.id;
  }

  private show(conversation: Addressed | null): void {
    this.conversation = conversation;
    this._changed.emit();
  }
}
