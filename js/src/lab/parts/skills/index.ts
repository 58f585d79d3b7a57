import { t } from '../../../shared/text/translate';
import { lazy } from '../../../shared/ui/lazy';
import type { Part } from '../../part';

/** Skills that agents open when they fit. */
export const skills: Part = {
  sections: [
    {
      order: 200,
      title: () => t('Skills'),
      name: 'skills',
      Body: lazy(async () => (await import(/* webpackChunkName: "panel" */ './Skills')).Skills)
    }
  ]
};
