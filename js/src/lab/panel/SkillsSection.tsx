import type { VNode } from 'preact';

import { lazy } from '../../shared/ui/lazy';
import { t } from '../../shared/text/translate';
import { Section } from './Section';

const Skills = lazy(async () => (await import('./Skills')).Skills);

/** Loaded on first opening. */
export function SkillsSection(): VNode {
  return (
    <Section title={t('Skills')} part="skills" open={false}>
      {() => <Skills />}
    </Section>
  );
}
