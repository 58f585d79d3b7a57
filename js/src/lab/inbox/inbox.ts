/** Everything that waits for the user, in all conversations. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel } from '../../shared/channel/channel';
import type { Page, PermissionRequest, Question } from '../../shared/types';
import { text } from '../../shared/channel/values';
import { permissionOf, questionOf } from '../../shared/run/parse';
import { toolLabel } from '../../shared/ask/labels';
import { counted, t } from '../../shared/text/translate';
import { plainLine } from '../../shared/text/plain';
import { oneLine } from '../../shared/text/visible';
import { includesEvent, type IActivityFeed } from '../model/activityFeed';

interface Placed {
  id: string;
  context: string;
  title: string;
  notebook: string | null;
}

export type InboxItem = Placed &
  ({ kind: 'question'; question: Question } | { kind: 'permission'; request: PermissionRequest });

const RELEVANT_EVENTS = [
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
    feed: IActivityFeed
  ) {
    feed.activity.connect((_, happened) => {
      if (includesEvent(happened, RELEVANT_EVENTS)) {
        void this.refresh();
      }
    });
  }

  get changed(): ISignal<Inbox, void> {
    return this._changed;
  }

  /** Activity during a request causes one more request, not one per event. */
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
      // Keep the known items; the next activity, or showing the panel, tries again.
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

export function summarize(items: readonly InboxItem[]): string {
  const [first] = items;
  return items.length === 1 && first
    ? t('Cowork is waiting for you in %1: %2', placeOf(first), describeItem(first))
    : counted(
        items.length,
        '%1 item is waiting for you in %2',
        '%1 items are waiting for you in %2',
        [...new Set(items.map(placeOf))].join(', ')
      );
}

/** The notebook, or the conversation's title if there is none. */
export function placeOf({ notebook, title }: InboxItem): string {
  return oneLine(notebook || title || t('Untitled'), 80);
}

export function describeItem(item: InboxItem): string {
  return item.kind === 'question'
    ? plainLine(item.question.question, 160)
    : `${toolLabel(item.request.tool)}: ${oneLine(item.request.resource, 120)}`;
}
