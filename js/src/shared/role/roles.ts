/**
 * How the six roles look when no server has said so yet; an answer to `GET roles` goes before this.
 */

import type { Role } from '../types';
import { said, t } from '../translate';

export interface RoleLook {
  name: string;
  label: string;
  icon: string;
  colour: string;
  description: string;
}

/** The order in which roles are offered. */
export const ROLE_NAMES = [
  'planner',
  'actor',
  'commander',
  'designer',
  'reviewer',
  'tester'
] as const;

/** The role of new conversations until the user chooses another: it cannot change anything. */
export const DEFAULT_ROLE = 'planner';

/** A function, not a constant, so that the texts follow the host's language. */
function builtIn(name: string): RoleLook | null {
  switch (name) {
    case 'planner':
      return look(name, t('Planner'), 'search', 'blue', t('Reads and plans; changes nothing.'));
    case 'actor':
      return look(
        name,
        t('Actor'),
        'bolt',
        'green',
        t('Carries out the approved plan; asks for what goes beyond it.')
      );
    case 'commander':
      return look(
        name,
        t('Commander'),
        'compass',
        'purple',
        t('Splits the work and hands the parts to other roles.')
      );
    case 'designer':
      return look(
        name,
        t('Designer'),
        'pencil',
        'orange',
        t('Reads, and writes new files; changes no existing one.')
      );
    case 'reviewer':
      return look(
        name,
        t('Reviewer'),
        'eye',
        'teal',
        t('Reads and gives its findings; changes nothing.')
      );
    case 'tester':
      return look(
        name,
        t('Tester'),
        'flask',
        'pink',
        t('Runs tests with the workspace read-only.')
      );
    default:
      return null;
  }
}

/** A role we have never heard of still gets a readable pill. */
export function roleLook(name: string, known: readonly Role[] = []): RoleLook {
  const told = known.find(role => role.name === name);
  return (
    (told && { ...told, label: said(told.label), description: said(told.description) }) ??
    builtIn(name) ??
    look(name, name.charAt(0).toUpperCase() + name.slice(1), 'person', 'grey', '')
  );
}

function look(
  name: string,
  label: string,
  icon: string,
  colour: string,
  description: string
): RoleLook {
  return { name, label, icon, colour, description };
}
