/** What waits for the user, in words. */

import { toolWords } from '../shared/ask/words';
import { counted, t } from '../shared/translate';
import { oneLine } from '../shared/visible';
import type { InboxItem } from './inbox';

export function sentence(items: readonly InboxItem[]): string {
  const [first] = items;
  return items.length === 1 && first
    ? t('Cowork is waiting for you in %1: %2', where(first), line(first))
    : counted(
        items.length,
        '%1 item is waiting for you in %2',
        '%1 items are waiting for you in %2',
        [...new Set(items.map(where))].join(', ')
      );
}

/** The notebook that it is about, or the conversation's name where there is none. */
export function where({ notebook, title }: InboxItem): string {
  return oneLine(notebook || title || t('Untitled'), 80);
}

/** What is asked, in one line. */
export function line(item: InboxItem): string {
  return item.kind === 'question'
    ? oneLine(item.question.question, 160)
    : `${toolWords(item.request.tool)}: ${oneLine(item.request.resource, 120)}`;
}
