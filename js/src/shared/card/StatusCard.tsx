import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Card } from '../ui/Card';
import type { Channel } from '../channel/channel';
import { CheckButton } from '../model/CheckButton';
import { useConnectionCheck, usePresentHealth, type Check } from '../model/connectionCheck';
import { HealthAnswer, modelLabel, ModelName } from '../model/HealthAnswer';
import { ModelHelp } from '../model/ModelHelp';
import type { Health, StatusCardData } from '../types';
import { RolePill } from '../role/RolePill';
import { SavedRoles, useRoles } from '../role/roles';
import { RoleSwitcher } from '../role/RoleSwitcher';
import { t } from '../text/translate';

/** Which model would answer, whether it is ready, and how to connect one. */
export function StatusCard(props: StatusCardProps): VNode {
  return (
    <SavedRoles value={props.card.roles}>
      <Status {...props} />
    </SavedRoles>
  );
}

interface StatusCardProps {
  card: StatusCardData;
  channel: Channel;
}

function Status({ card, channel }: StatusCardProps): VNode {
  const [check, runCheck] = useConnectionCheck(channel);
  const present = usePresentHealth(channel, card.health);
  const known = check.state === 'answered' ? check.health : present;
  const health = { ...known, model: { ...known.model, ...(card.model && { name: card.model }) } };
  const [acting, setActing] = useCurrentRole(card, channel);
  const lookOf = useRoles();
  const role = acting === null ? null : lookOf(acting);
  const isFirst = !card.context_id && !card.note;
  const switchRole = async (name: string, confirm: boolean): Promise<void> => {
    await channel.request('POST', `context/${card.context_id}/role`, { role: name, confirm });
    setActing(name);
  };
  return (
    <Card
      edge={edgeOf(check, health, role?.colour ?? 'grey')}
      label={t('Cowork: %1', card.title)}
      header={
        <>
          {role && card.context_id && (
            <RoleSwitcher role={role.name} channel={channel} onSwitch={switchRole} />
          )}
          {role && !card.context_id && <RolePill role={role.name} />}
          {!role && <span class="cw-title">{card.title}</span>}
          {role?.name === 'planner' && <span class="cw-dim">{t('read-only')}</span>}
        </>
      }
      aside={<ModelName health={health} />}
      footer={
        <>
          <CheckButton check={check} onCheck={() => void runCheck()} />
          <HealthAnswer check={check} />
        </>
      }
    >
      {role && <div class="cw-title">{card.title}</div>}
      <p class="cw-text">{stateSentence(health, isFirst)}</p>
      {check.state !== 'answered' && <p class="cw-dim">{t('Workspace: %1', health.workspace)}</p>}
      {card.note && <p class="cw-dim">{card.note}</p>}
      <ModelHelp
        health={health}
        sayWhyNot={check.state !== 'answered'}
        channel={channel}
        onChange={() => void runCheck()}
      />
    </Card>
  );
}

/** The conversation's role, followed from when the card was made. */
function useCurrentRole(
  { context_id, role, seq = 0 }: StatusCardData,
  channel: Channel
): [string | null, (role: string) => void] {
  const [current, setCurrent] = useState(role);
  useEffect(() => {
    setCurrent(role);
    return !context_id
      ? undefined
      : channel.subscribe(context_id, seq, {
          event: event => {
            if (event.type === 'role-changed') {
              setCurrent(event.data.to);
            }
          },
          state: () => undefined
        });
  }, [channel, context_id, role, seq]);
  return [current, setCurrent];
}

function edgeOf(check: Check, health: Health, roleColour: string): string {
  if (check.state === 'failed') {
    return 'error';
  }
  return health.model.ready && health.problems.length === 0 ? roleColour : 'ask';
}

/** `hasStarted`: a user who has just run `%%plan` need not be told to. */
function stateSentence({ model }: Health, isFirst: boolean): string {
  if (!model.ready) {
    return model.name === null
      ? t('No model is connected yet.')
      : t('%1 is set up but cannot be used yet.', model.name);
  }
  return isFirst
    ? t(
        'Ready. Write %1 in a cell and say what you want; nothing changes until you approve ' +
          'the plan.',
        '%%plan'
      )
    : t('%1 is ready.', modelLabel(model));
}
