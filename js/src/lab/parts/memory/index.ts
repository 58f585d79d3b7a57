import { t } from '../../../shared/text/translate';
import { lazy } from '../../../shared/ui/lazy';
import type { Part } from '../../part';

/** What agents remember of a workspace. */
export const memory: Part = {
  cardLines: [lazy(async () => (await import('./Remember')).Remember)],
  sections: [
    {
      order: 300,
      title: () => t('Memory'),
      name: 'memory',
      Body: lazy(async () => (await import(/* webpackChunkName: "panel" */ './Memory')).Memory)
    }
  ]
};
