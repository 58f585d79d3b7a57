import type { Page } from '../types';
import type { Channel } from './channel';

const PAGE_SIZE = 1000;

/** All items of a list that the server gives out in pages. */
export async function allPages<Item>(channel: Channel, address: string): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | number | null = 0;
  while (after !== null) {
    const page: Page<Item> = await channel.request(
      'GET',
      `${address}after=${after}&limit=${PAGE_SIZE}`
    );
    items.push(...page.items);
    after = page.next;
  }
  return items;
}
