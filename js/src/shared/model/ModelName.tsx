import type { VNode } from 'preact';

import type { Health } from '../types';
import { said, t } from '../translate';

/** The one who answers, as the subject of a sentence. */
export function answererOf({ provider, name }: Health['model']): string {
  return provider === 'built-in' ? t('The built-in guide') : (name ?? provider);
}

/** Which model answers, in the corner where cards and panel show it. */
export function ModelName({ health }: { health: Health | null }): VNode {
  const name = health?.model.name;
  const where = health?.model.base_url;
  return (
    <span class="cw-dim cw-model" {...(where ? { title: where } : {})}>
      {name ? said(name) : t('no model')}
    </span>
  );
}
