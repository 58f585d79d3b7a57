import type { Channel } from '../../../shared/channel/channel';
import type { Page } from '../../../shared/types';
import type { Preferences } from '../../model/coworkModel';
import { lastUsed, type Conversation } from '../../panel/conversations';

/** The notebook's most recent conversation, or a new one. */
export async function conversationOf(
  channel: Channel,
  notebook: string,
  { role, model }: Preferences
): Promise<string> {
  const { items } = await channel.request<Page<Conversation>>(
    'GET',
    `context?notebook=${encodeURIComponent(notebook)}`
  );
  const known = lastUsed(items);
  if (known !== null) {
    return known.id;
  }
  const begun = { role, notebook, ...(model ? { model } : {}) };
  return (await channel.request<Conversation>('POST', 'context', begun)).id;
}
