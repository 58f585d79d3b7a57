/** Registry of roles and their look, as the server describes them. */

import { createContext } from 'preact';
import { useContext, useEffect, useReducer } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import { translateKnown } from '../text/translate';
import type { Page, RoleLook } from '../types';

export type { RoleLook } from '../types';

/** Role of new conversations by default: read-only. */
export const DEFAULT_ROLE = 'planner';

let known: readonly RoleLook[] = [];
const watching = new Set<() => void>();

/** Reloads the roles; everything that shows one re-renders. */
export async function fetchRoles(channel: Channel): Promise<void> {
  const page = await channel.request<Page<RoleLook>>('GET', 'roles');
  learnRoles(page.items);
}

export function learnRoles(roles: readonly RoleLook[]): void {
  known = roles;
  watching.forEach(redraw => redraw());
}

/** Selectable roles, in order; empty before the first answer. */
export function knownRoles(): readonly RoleLook[] {
  return known;
}

const Saved = createContext<readonly RoleLook[] | undefined>(undefined);

/** Looks saved with a card, used for that card where no server can be asked. */
export const SavedRoles = Saved.Provider;

/** Looks up a role by name, and re-renders when it becomes known. */
export function useRoles(): (name: string) => RoleLook {
  const saved = useContext(Saved);
  const [, redraw] = useReducer<number, void>(count => count + 1, 0);
  useEffect(() => {
    const watcher = (): void => redraw();
    watching.add(watcher);
    return () => void watching.delete(watcher);
  }, []);
  return name => roleLook(name, saved);
}

/** Asks once about the roles of a live card that are still unknown. */
export function useFetchedRoles(channel: Channel, names: readonly string[]): void {
  const saved = useContext(Saved) ?? [];
  const isDescribed = (name: string): boolean =>
    [...known, ...saved].some(role => role.name === name);
  const missing = names.filter(name => !isDescribed(name)).join(' ');
  useEffect(() => {
    if (missing !== '') {
      fetchRoles(channel).catch(() => undefined);
    }
  }, [channel, missing]);
}

/** Unknown roles still get a readable pill. */
export function roleLook(name: string, saved: readonly RoleLook[] = []): RoleLook {
  const told = [...known, ...saved].find(role => role.name === name);
  return told
    ? { ...told, label: translateKnown(told.label), description: translateKnown(told.description) }
    : {
        name,
        label: translateKnown(spelled(name)),
        icon: 'person',
        colour: 'grey',
        description: ''
      };
}

function spelled(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replace(/[_-]+/g, ' ');
}
