import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { TextField } from '../../shared/ui/TextField';
import { submitting } from '../../shared/ui/forms';
import { useAction } from '../../shared/ui/useAction';
import { Button, Failure } from '../../shared/ui/Button';
import { Fold } from '../../shared/ui/Fold';
import type { Page } from '../../shared/types';
import { t } from '../../shared/text/translate';
import { oneLine, visible } from '../../shared/text/visible';
import { useFollowed, usePanel } from './context';
import { Section } from './Section';

const RELOAD_EVENTS = ['permission-resolved'];

type Effect = 'allow' | 'ask' | 'deny';
type RuleScope = 'session' | 'workspace' | 'global' | 'admin';

interface Rule {
  id: string;
  effect: Effect;
  rule: string;
  scope: RuleScope;
  source?: string | null;
  problem?: string | null;
  active?: boolean;
  context_id?: string | null;
}

const COLOURS: Record<Effect, string> = { allow: 'ok', ask: 'ask', deny: 'error' };

/** Permission rules; each can be revoked. */
export function RulesSection(): VNode {
  return (
    <Section title={t('Rules')} open={false}>
      {() => <Rules />}
    </Section>
  );
}

function Rules(): VNode {
  const { value, error, reload } = useFollowed<Page<Rule>>('rules', RELOAD_EVENTS);
  return (
    <>
      <Failure error={error} />
      {value?.items.length === 0 && (
        <p class="cw-row cw-dim">
          {t(
            'None yet. Answer a permission with “Always here” or “Everywhere” to add one; ' +
              'until then, every change asks first.'
          )}
        </p>
      )}
      <ul class="cw-list">
        {value?.items.map(rule => (
          <Row key={rule.id} rule={rule} onGone={reload} />
        ))}
      </ul>
      <div class="cw-row">
        <Fold summary={t('Add a rule')}>{() => <NewRule onAdded={reload} />}</Fold>
      </div>
    </>
  );
}

function Row({ rule, onGone }: { rule: Rule; onGone: () => void }): VNode {
  const { channel } = usePanel();
  const revoking = useAction();
  const revoke = (): void => {
    void revoking
      .run(() => channel.request('DELETE', `rules/${encodeURIComponent(rule.id)}`))
      .then(ok => ok && onGone());
  };
  return (
    <li class="cw-row cw-rule">
      <div>
        <span class={`cw-pill cw-colour-${COLOURS[rule.effect] ?? 'grey'}`}>
          {effectLabel(rule.effect)}
        </span>{' '}
        <span class="cw-chip">{oneLine(rule.rule, 300)}</span>
        <p class="cw-dim">{why(rule)}</p>
      </div>
      {rule.scope !== 'admin' && (
        <Button
          busy={revoking.busy}
          label={t('Revoke the rule %1', oneLine(rule.rule, 120))}
          onClick={revoke}
        >
          {t('Revoke')}
        </Button>
      )}
      <Failure error={revoking.error} />
    </li>
  );
}

function effectLabel(effect: Effect): string {
  switch (effect) {
    case 'allow':
      return t('Allow');
    case 'deny':
      return t('Deny');
    default:
      return t('Ask');
  }
}

/** Scope, source, and why the rule may have no effect. */
function why({ scope, source, problem, active }: Rule): string {
  const where = {
    session: t('In one conversation, until it ends.'),
    workspace: t('In this workspace.'),
    global: t('In every workspace.'),
    admin: t('Set by your administrator.')
  }[scope];
  const off = active === false ? t('It has no effect: this workspace is not trusted.') : '';
  return [where, source && t('From %1.', oneLine(source, 120)), problem && visible(problem), off]
    .filter(Boolean)
    .join(' ');
}

function NewRule({ onAdded }: { onAdded: () => void }): VNode {
  const { channel } = usePanel();
  const adding = useAction();
  const [rule, setRule] = useState('');
  const [effect, setEffect] = useState<Effect>('ask');
  const [scope, setScope] = useState<'workspace' | 'global'>('workspace');
  const add = (): void => {
    void adding
      .run(() => channel.request('POST', 'rules', { effect, rule: rule.trim(), scope }))
      .then(ok => {
        if (ok) {
          setRule('');
          onAdded();
        }
      });
  };
  return (
    <form
      class="cw-form"
      onSubmit={submitting(() => {
        if (rule.trim()) {
          add();
        }
      })}
    >
      <div class="cw-bar">
        <select
          class="cw-input"
          aria-label={t('What the rule says')}
          value={effect}
          onChange={event => setEffect(event.currentTarget.value as Effect)}
        >
          {(['allow', 'ask', 'deny'] as const).map(one => (
            <option key={one} value={one}>
              {effectLabel(one)}
            </option>
          ))}
        </select>
        <select
          class="cw-input"
          aria-label={t('Where it applies')}
          value={scope}
          onChange={event => setScope(event.currentTarget.value as 'workspace' | 'global')}
        >
          <option value="workspace">{t('in this workspace')}</option>
          <option value="global">{t('everywhere')}</option>
        </select>
      </div>
      <TextField
        label={t('Rule')}
        value={rule}
        placeholder="execute_command(git push)"
        onText={setRule}
      >
        <span class="cw-dim">
          {t('A tool, optionally with the files or the command it is for in parentheses.')}
        </span>
      </TextField>
      <Failure error={adding.error} />
      <div class="cw-bar">
        <Button look="primary" busy={adding.busy} disabled={!rule.trim()} onClick={add}>
          {t('Add')}
        </Button>
      </div>
    </form>
  );
}
