import type { VNode } from 'preact';

import { t } from '../../shared/text/translate';
import { Section } from './Section';
import { Skills } from './Skills';

export function SkillsSection(): VNode {
  return (
    <Section title={t('Skills')} part="skills" open={false}>
      {() => <Skills />}
    </Section>
  );
}
