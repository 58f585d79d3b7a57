import type { VNode } from 'preact';

import { messageOf } from '../channel/channel';
import type { Check } from './connectionCheck';
import { Icon } from '../ui/icons';
import type { Health } from '../types';
import { translateKnown, t } from '../text/translate';

/** Whether the model answers, and if not, what to do. */
export function modelSentence({ model }: Health): string {
  if (!model.ready) {
    return t('Not ready: %1', model.why_not ?? t('the model does not answer.'));
  }
  const name = modelLabel(model);
  return model.base_url ? t('%1 answers at %2', name, model.base_url) : t('%1 answers', name);
}

function sandboxName(sandbox: string): string {
  return sandbox === 'none' ? t('none, so every command asks first') : sandbox;
}

/** Rendered even while empty, or screen readers would miss the first result. */
export function HealthAnswer({ check }: { check: Check }): VNode {
  return (
    <div class="cw-answer" aria-live="polite">
      {check.state === 'busy' && <span class="cw-dim">{t('Asking the model server…')}</span>}
      {check.state === 'failed' && (
        <p class="cw-result cw-colour-error">
          <Icon name="alert" />
          <span>{messageOf(check.error)}</span>
        </p>
      )}
      {check.state === 'answered' && (
        <>
          <p class={`cw-result cw-colour-${check.health.model.ready ? 'ok' : 'ask'}`}>
            <Icon name={check.health.model.ready ? 'check' : 'alert'} />
            <span>{modelSentence(check.health)}</span>
          </p>
          <p class="cw-dim">
            {t('Sandbox: %1', sandboxName(check.health.sandbox))} ·{' '}
            {t('Workspace: %1', check.health.workspace)}
          </p>
        </>
      )}
    </div>
  );
}

/** Name of the model, as the subject of a sentence. */
export function modelLabel({ provider, name }: Health['model']): string {
  return provider === 'built-in' ? t('The built-in guide') : (name ?? provider);
}

export function ModelName({ health }: { health: Health | null }): VNode {
  const name = health?.model.name;
  const where = health?.model.base_url;
  return (
    <span class="cw-dim cw-model" {...(where ? { title: where } : {})}>
      {name ? translateKnown(name) : t('no model')}
    </span>
  );
}
