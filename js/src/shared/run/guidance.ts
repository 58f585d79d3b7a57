/** What guided the agents of a run: instructions, memory, skills, templates. */

import { isRecord } from '../channel';
import type { Guidance } from '../types';

/** As it is read: a notebook is anybody's, so what a saved card says of it is checked here. */
export function guidanceOf(value: unknown): Guidance[] {
  return (Array.isArray(value) ? value.filter(isRecord) : []).flatMap(one =>
    typeof one['name'] === 'string' && typeof one['kind'] === 'string' ? [one as Guidance] : []
  );
}

/** Each once, in the order of first use: every step of a plan is told the same. */
export function withMore(used: readonly Guidance[], more: readonly Guidance[]): Guidance[] {
  const key = ({ kind, source, name }: Guidance): string => `${kind} ${source} ${name}`;
  const known = new Set(used.map(key));
  return [...used, ...more.filter(one => !known.has(key(one)))];
}
