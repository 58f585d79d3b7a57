import type { VNode } from 'preact';

import { t } from '../translate';
import type { Guidance } from '../types';
import { oneLine } from '../visible';

const MAX_LINE = 400;

/** What guided the agents of a run, in one quiet line. */
export function GuidanceLine({ used }: { used: readonly Guidance[] }): VNode | null {
  const words = guidanceWords(used);
  return words ? <p class="cw-dim cw-guidance">{oneLine(words, MAX_LINE)}</p> : null;
}

function guidanceWords(used: readonly Guidance[]): string {
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
