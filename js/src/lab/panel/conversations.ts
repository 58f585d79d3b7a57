/** Conversations as the server lists them. */

import type { Channel } from '../../shared/channel/channel';
import type { Page } from '../../shared/types';

export interface Conversation {
  id: string;
  title: string;
  notebook: string | null;
  role: string;
  model: string | null;
  /** Whether it stays on top of the list; said only of those that do. */
  pinned?: boolean;
  /** What was said around a word that was looked for. */
  snippet?: string;
  updated_at: string;
  created_at: string;
}

/** A conversation, and who gets the next message in it. */
export interface OpenConversation extends Conversation {
  addressee: string;
  /** What its system prompts begin with. */
  system_prompt_id: string;
}

export async function openConversation(channel: Channel, id: string): Promise<OpenConversation> {
  const [conversation, addressee] = await Promise.all([
    channel.request<Omit<OpenConversation, 'addressee'>>('GET', `context/${id}`),
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

/** The newest ones, and all that are pinned. */
export async function listConversations(channel: Channel): Promise<Conversation[]> {
  const newest: Page<Conversation> = await channel.request(
    'GET',
    `context?after=0&limit=${NEWEST}`
  );
  if (newest.next === null) {
    return newest.items;
  }
  const pinned = await allPages(channel, 'pinned=true');
  const listed = new Set(newest.items.map(({ id }) => id));
  return [...newest.items, ...pinned.filter(({ id }) => !listed.has(id))];
}

/** Which conversations the user wants to see; empty for any. */
export interface ConversationFilter {
  words: string;
  notebook: string;
}

/** All that the server finds, in titles and in what was said. */
export function findConversations(
  channel: Channel,
  { words, notebook }: ConversationFilter
): Promise<Conversation[]> {
  const query = new URLSearchParams();
  if (words.trim()) {
    query.set('q', words.trim());
  }
  if (notebook) {
    query.set('notebook', notebook);
  }
  return allPages(channel, query.toString());
}

async function allPages(channel: Channel, query: string): Promise<Conversation[]> {
  const found: Conversation[] = [];
  let after: string | number | null = 0;
  do {
    const page: Page<Conversation> = await channel.request(
      'GET',
      `context?${query}&after=${after}&limit=${AT_ONCE}`
    );
    found.push(...page.items);
    after = page.next;
  } while (after !== null);
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

/** Their notebooks, in order of their names. */
export function notebooksOf(conversations: readonly Conversation[]): string[] {
  const found = new Set(conversations.flatMap(({ notebook }) => notebook ?? []));
  return [...found].sort((one, other) => one.localeCompare(other));
}

export async function change(
  channel: Channel,
  id: string,
  changed: Partial<Pick<Conversation, 'title' | 'pinned'>>
): Promise<void> {
  await channel.request('PUT', `context/${id}`, changed);
}

export async function remove(channel: Channel, id: string): Promise<void> {
  await channel.request('DELETE', `context/${id}`);
}

/** What can still be brought back, the newest first. */
export async function listDeleted(channel: Channel): Promise<Conversation[]> {
  return (await channel.request<Page<Conversation>>('GET', 'deleted')).items;
}

export async function restore(channel: Channel, id: string): Promise<void> {
  await channel.request('POST', `context/${id}/restore`);
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
