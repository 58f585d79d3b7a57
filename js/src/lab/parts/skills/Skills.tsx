import type { VNode } from 'preact';

import { useAction } from '../../../shared/ui/useAction';
import { Failure } from '../../../shared/ui/Button';
import { moment } from '../../../shared/text/format';
import { Note } from '../../../shared/ui/Note';
import { t } from '../../../shared/text/translate';
import type { Skill, SkillList } from '../../../shared/types';
import { oneLine, visible } from '../../../shared/text/visible';
import { useFollowed, usePanel } from '../../panel/context';

const RELOAD_EVENTS = ['job-completed'];

export function Skills(): VNode {
  const { value, error, reload } = useFollowed<SkillList>('skills', RELOAD_EVENTS);
  return (
    <>
      <Failure error={error} />
      <ul class="cw-list">
        {value?.items.map(skill => (
          <Row key={skill.path} skill={skill} onSwitched={reload} />
        ))}
      </ul>
      {value?.problems.map(problem => (
        <Note key={problem.message}>{visible(problem.message)}</Note>
      ))}
      <p class="cw-row cw-dim">
        {t('Agents open a skill when it fits. To use one yourself, start a message with /NAME.')}
      </p>
    </>
  );
}

function Row({ skill, onSwitched }: { skill: Skill; onSwitched: () => void }): VNode {
  const { channel } = usePanel();
  const switching = useAction();
  const name = oneLine(skill.name, 64);
  const flip = (enabled: boolean): void => {
    const address = `skills/${encodeURIComponent(skill.name)}`;
    void switching.run(() => channel.request('POST', address, { enabled })).then(onSwitched);
  };
  return (
    <li class="cw-row cw-rule" data-skill={skill.name}>
      <div>
        <span class="cw-name">{name}</span> <span class="cw-dim">{sourceLabel(skill)}</span>
        <p class="cw-text">{oneLine(skill.description, 1024)}</p>
        <p class="cw-dim">{state(skill)}</p>
        {skill.allowed_tools.length > 0 && (
          <p class="cw-dim">
            {t(
              'It wants to use %1 without asking. That grants nothing: your rules decide.',
              oneLine(skill.allowed_tools.join(', '), 300)
            )}
          </p>
        )}
      </div>
      {skill.trusted && (
        <label class="cw-check">
          <input
            type="checkbox"
            role="switch"
            aria-label={t('Use the skill %1', name)}
            checked={skill.enabled}
            onChange={event => flip(event.currentTarget.checked)}
          />
          <span aria-hidden="true">{skill.enabled ? t('on') : t('off')}</span>
        </label>
      )}
      <Failure error={switching.error} />
    </li>
  );
}

function sourceLabel({ source }: Skill): string {
  switch (source) {
    case 'workspace':
      return t('from this workspace');
    case 'user':
      return t('your own');
    default:
      return t('comes with Cowork');
  }
}

function state({ trusted, last_used }: Skill): string {
  if (!trusted) {
    return t('Not trusted yet: see “This workspace” below.');
  }
  return last_used ? t('Last used: %1', moment(last_used)) : t('Not used yet.');
}
