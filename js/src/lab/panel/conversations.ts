/** API calls about conversations. */

import type { Channel } from '../../shared/channel/channel';
import { allPages } from '../../shared/channel/pages';
import type { Page } from '../../shared/types';

export interface Conversation {
  id: string;
  title: string;
  notebook: string | null;
  role: string;
  model: string | null;
  /** Only set if true. */
  pinned?: boolean;
  /** Text around the search match. */
  snippet?: string;
  updated_at: string;
  created_at: string;
}

export interface OpenConversation extends Conversation {
  /** Base prompt. */
  system_prompt_id: string;
}

export function openConversation(channel: Channel, id: string): Promise<OpenConversation> {
  return channel.request('GET', `context/${id}`);
}

/** Page size without a filter. */
const NEWEST = 100;

/** Includes all pinned ones. */
export async function listConversations(channel: Channel): Promise<Conversation[]> {
  const newest: Page<Conversation> = await channel.request(
    'GET',
    `context?after=0&limit=${NEWEST}`
  );
  if (newest.next === null) {
    return newest.items;
  }
  const pinned = await allPages<Conversation>(channel, 'context?pinned=true&');
  const listed = new Set(newest.items.map(({ id }) => id));
  return [...newest.items, ...pinned.filter(({ id }) => !listed.has(id))];
}

/** Empty fields match everything. */
export interface ConversationFilter {
  words: string;
  notebook: string;
}

/** Searches titles and messages. */
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
  return allPages(channel, `context?${query}&`);
}

/** The most recently used conversation. */
export function lastUsed<C extends Pick<Conversation, 'updated_at'>>(
  conversations: readonly C[]
): C | null {
  return (
    [...conversations].sort((one, other) => other.updated_at.localeCompare(one.updated_at))[0] ??
    null
  );
}

/** Sorted by name. */
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

/** Deleted conversations that can be restored, newest first. */
export async function listDeleted(channel: Channel): Promise<Conversation[]> {
  return (await channel.request<Page<Conversation>>('GET', 'deleted')).items;
}

export async function restore(channel: Channel, id: string): Promise<void> {
  await channel.request('POST', `context/${id}/restore`);
}

export const EXPORT_FORMATS = ['md', 'ipynb', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A name that is valid in every file system. */
export function fileName(title: string, format: ExportFormat): string {
  const plain = title
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${plain || 'cowork'}.${format}`;
}
