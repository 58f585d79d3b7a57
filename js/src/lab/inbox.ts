/** Everything that waits for the user, in whichever conversation. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel } from '../shared/channel';
import type { Page, PermissionRequest, Question } from '../shared/types';
import { permissionOf, questionOf, text } from '../shared/run/reading';
import { tells, type INews } from './news';

interface Placed {
  id: string;
  context: string;
  /** The name of the conversation, and the notebook it belongs to. */
  title: string;
  notebook: string | null;
}

export type InboxItem = Placed &
  ({ kind: 'question'; question: Question } | { kind: 'permission'; request: PermissionRequest });

const OF_INTEREST = [
  'question-asked',
  'question-answered',
  'permission-request',
  'permission-resolved',
  'job-completed',
  'job-started'
];

export interface IInbox {
  readonly items: readonly InboxItem[];
  readonly changed: ISignal<unknown, void>;
  refresh(): Promise<void>;
}

export class Inbox implements IInbox {
  items: readonly InboxItem[] = [];
  private readonly _changed = new Signal<Inbox, void>(this);
  private asking: Promise<void> | null = null;
  private again = false;

  constructor(
    private readonly channel: Channel,
    news: INews
  ) {
    news.happened.connect((_, happened) => {
      if (tells(happened, OF_INTEREST)) {
        void this.refresh();
      }
    });
  }

  get changed(): ISignal<Inbox, void> {
    return this._changed;
  }

  /** News that come while it asks make it ask once more, not once for each. */
  refresh(): Promise<void> {
    this.again = this.asking !== null;
    this.asking ??= this.ask().finally(() => {
      this.asking = null;
      if (this.again) {
        void this.refresh();
      }
    });
    return this.asking;
  }

  private async ask(): Promise<void> {
    try {
      const { items } = await this.channel.request<Page<Record<string, unknown>>>('GET', 'inbox');
      this.items = items.map(itemOf);
      this._changed.emit();
    } catch {
      // What was known stands; the next news, or showing the panel, asks again.
    }
  }
}

function itemOf(data: Record<string, unknown>): InboxItem {
  const place = {
    id: text(data['id']),
    context: text(data['context_id']),
    title: text(data['title']),
    notebook: text(data['notebook']) || null
  };
  return data['kind'] === 'permission'
    ? { ...place, kind: 'permission', request: permissionOf(data) }
    : { ...place, kind: 'question', question: questionOf(data) };
}
