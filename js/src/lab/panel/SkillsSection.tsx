import type { VNode } from 'preact';

import { lazily } from '../../shared/lazily';
import { t } from '../../shared/translate';
import { Section } from './Section';

const Skills = lazily(async () => (await import('./Skills')).Skills);

/** How-tos that agents can open; fetched with the first look. */
export function SkillsSection(): VNode {
  return (
    <Section title={t('Skills')} part="skills" open={false}>
      {() => <Skills />}
    </Section>
  );
}
