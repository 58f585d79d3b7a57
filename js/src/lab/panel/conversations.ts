/** Conversations as the server lists them. */

import type { Channel } from '../../shared/channel';
import type { Page } from '../../shared/types';

export interface Conversation {
  id: string;
  title: string;
  notebook: string | null;
  role: string;
  model: string | null;
  updated_at: string;
  created_at: string;
}

/** A conversation, and who gets the next message in it. */
export interface OpenConversation extends Conversation {
  addressee: string;
}

export async function openConversation(channel: Channel, id: string): Promise<OpenConversation> {
  const [conversation, addressee] = await Promise.all([
    channel.request<Conversation>('GET', `context/${id}`),
    addresseeOf(channel, id)
  ]);
  return { ...conversation, addressee };
}

export async function addresseeOf(channel: Channel, id: string): Promise<string> {
  return (await channel.request<{ role: string }>('GET', `context/${id}/role`)).role;
}

/** What is listed without being looked for. */
const NEWEST = 100;
const AT_ONCE = 1000;

/** The newest ones, or all of them for a search. */
export async function listConversations(channel: Channel, all: boolean): Promise<Conversation[]> {
  const found: Conversation[] = [];
  let after: string | number | null = 0;
  do {
    const page: Page<Conversation> = await channel.request(
      'GET',
      `context?after=${after}&limit=${all ? AT_ONCE : NEWEST}`
    );
    found.push(...page.items);
    after = page.next;
  } while (all && after !== null);
  return found;
}

/** The one in which something was said last. */
export function lastUsed<C extends Pick<Conversation, 'updated_at'>>(
  conversations: readonly C[]
): C | null {
  return (
    [...conversations].sort((one, other) => other.updated_at.localeCompare(one.updated_at))[0] ??
    null
  );
}

/** All words have to be in its name or its notebook's, in whatever order. */
export function matching(conversations: readonly Conversation[], search: string): Conversation[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return conversations.filter(({ title, notebook }) => {
    const text = `${title} ${notebook ?? ''}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
}

export async function rename(channel: Channel, id: string, title: string): Promise<Conversation> {
  return channel.request<Conversation>('PUT', `context/${id}`, { title });
}

export async function remove(channel: Channel, id: string): Promise<void> {
  await channel.request('DELETE', `context/${id}`);
}

export const EXPORT_FORMATS = ['md', 'ipynb', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A name that every file system takes. */
export function fileName(title: string, format: ExportFormat): string {
  const plain = title
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${plain || 'cowork'}.${format}`;
}
