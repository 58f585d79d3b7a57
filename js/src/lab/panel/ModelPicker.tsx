import type { VNode } from 'preact';

import type { Check } from '../../shared/model/connectionCheck';
import type { Health, Page } from '../../shared/types';
import { translateKnown, t } from '../../shared/text/translate';
import { oneLine } from '../../shared/text/visible';
import { useLoaded, usePanel } from './context';

interface ServedModel {
  name: string;
  configured: boolean;
}

interface ModelPickerProps {
  health: Health | null;
  check: Check;
  /** Empty for the server's default. */
  picked: string;
  onPick: (model: string) => void;
}

/** Status of the model, and a choice if the server has several. */
export function ModelPicker({ health, check, picked, onPick }: ModelPickerProps): VNode {
  const { channel } = usePanel();
  const ready = health?.model.ready === true;
  const { value } = useLoaded(
    async () => (ready ? (await channel.request<Page<ServedModel>>('GET', 'models')).items : []),
    [ready, health?.model.base_url]
  );
  const configured = health?.model.name ?? '';
  const names = [...new Set([configured, ...(value ?? []).map(({ name }) => name), picked])].filter(
    Boolean
  );
  const where = health?.model.base_url;
  if (!ready || names.length < 2) {
    return (
      <span class="cw-dim cw-model" {...(where ? { title: where } : {})}>
        {stateLabel(health, check)}
      </span>
    );
  }
  return (
    <select
      class="cw-select cw-model-select"
      aria-label={t('Model')}
      {...(where ? { title: where } : {})}
      value={picked || configured}
      onChange={event =>
        onPick(event.currentTarget.value === configured ? '' : event.currentTarget.value)
      }
    >
      {names.map(name => (
        <option key={name} value={name}>
          {oneLine(translateKnown(name), 80)}
        </option>
      ))}
    </select>
  );
}

/** Short form; the model section has the full sentence. */
export function stateLabel(health: Health | null, check: Check): string {
  if (health === null) {
    return check.state === 'failed' ? t('no answer') : t('loading…');
  }
  const { name, ready, problem } = health.model;
  if (ready) {
    return oneLine(translateKnown(name ?? health.model.provider), 80);
  }
  if (problem === 'key') {
    return t('%1: no key', oneLine(name ?? t('model'), 60));
  }
  if (problem === 'loading') {
    return t('%1: loading…', oneLine(name ?? t('model'), 60));
  }
  return name === null ? t('no model') : t('%1: not ready', oneLine(name, 60));
}
