/** What guided a run's agents: instructions, memory, skills, templates. */

import type { VNode } from 'preact';

import { t } from '../text/translate';
import { oneLine } from '../text/visible';
import { records } from '../channel/values';
import type { Guidance } from '../types';

const MAX_LINE = 400;

export function GuidanceLine({ used }: { used: readonly Guidance[] }): VNode | null {
  const words = describeGuidance(used);
  return words ? <p class="cw-dim cw-guidance">{oneLine(words, MAX_LINE)}</p> : null;
}

function describeGuidance(used: readonly Guidance[]): string {
  const of = (kind: string): Guidance[] => used.filter(one => one.kind === kind);
  const guides = [
    of('instructions')
      .map(({ source, name }) => (source === 'user' ? t('your own AGENTS.md') : name))
      .join(', '),
    of('memory').length > 0 ? t('what is known about this workspace') : '',
    ...of('skill').map(({ name }) => t('skill %1', name))
  ].filter(Boolean);
  const words = [
    ...(guides.length > 0 ? [t('guided by %1', guides.join(' · '))] : []),
    ...of('template').map(({ source, name }) =>
      source === 'user' ? t('follows your template %1', name) : t('follows the template %1', name)
    )
  ].join(' · ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Validates a saved card's data: notebooks are untrusted. */
export function guidanceOf(value: unknown): Guidance[] {
  return records(value).flatMap(one =>
    typeof one['name'] === 'string' && typeof one['kind'] === 'string' ? [one as Guidance] : []
  );
}

/** Removes duplicates, since every step gets the same guidance. */
export function mergeGuidance(used: readonly Guidance[], more: readonly Guidance[]): Guidance[] {
  const key = ({ kind, source, name }: Guidance): string => `${kind} ${source} ${name}`;
  const known = new Set(used.map(key));
  return [...used, ...more.filter(one => !known.has(key(one)))];
}
