import { t } from '../../../shared/text/translate';
import { lazy } from '../../../shared/ui/lazy';
import type { Part } from '../../part';

/** Plans that are kept to be used again. */
export const workflows: Part = {
  card: { SaveWorkflow: lazy(async () => (await import('./SaveWorkflow')).SaveWorkflow) },
  sections: [
    {
      order: 100,
      title: () => t('Workflows'),
      Body: lazy(
        async () => (await import(/* webpackChunkName: "panel" */ './Workflows')).Workflows
      )
    }
  ]
};
