/** What roles there are and how they look: all of it is what the server says. */

import { createContext } from 'preact';
import { useContext, useEffect, useReducer } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import { said } from '../text/translate';
import type { Page, RoleLook } from '../types';

export type { RoleLook } from '../types';

/** The role of new conversations until the user chooses another: it cannot change anything. */
export const DEFAULT_ROLE = 'planner';

let known: readonly RoleLook[] = [];
const watching = new Set<() => void>();

/** Asks which roles there are now; whatever shows one is drawn anew. */
export async function askRoles(channel: Channel): Promise<void> {
  const page = await channel.request<Page<RoleLook>>('GET', 'roles');
  learnRoles(page.items);
}

export function learnRoles(roles: readonly RoleLook[]): void {
  known = roles;
  watching.forEach(redraw => redraw());
}

/** The roles that can be chosen, in their order; empty until the server was asked. */
export function knownRoles(): readonly RoleLook[] {
  return known;
}

const Saved = createContext<readonly RoleLook[] | undefined>(undefined);

/** How roles look on one card, for where nobody can be asked. It counts nowhere else. */
export const SavedRoles = Saved.Provider;

/** The look of a role by its name, also when that is learnt later. */
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

/** Asks once about roles of a live card that nobody has described yet. */
export function useAskedRoles(channel: Channel, names: readonly string[]): void {
  const saved = useContext(Saved) ?? [];
  const isDescribed = (name: string): boolean =>
    [...known, ...saved].some(role => role.name === name);
  const missing = names.filter(name => !isDescribed(name)).join(' ');
  useEffect(() => {
    if (missing !== '') {
      askRoles(channel).catch(() => undefined);
    }
  }, [channel, missing]);
}

/** A role we have never heard of still gets a readable pill. */
export function roleLook(name: string, saved: readonly RoleLook[] = []): RoleLook {
  const told = [...known, ...saved].find(role => role.name === name);
  return told
    ? { ...told, label: said(told.label), description: said(told.description) }
    : { name, label: said(spelled(name)), icon: 'person', colour: 'grey', description: '' };
}

function spelled(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replace(/[_-]+/g, ' ');
}
