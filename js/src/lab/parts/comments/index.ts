import { lazy } from '../../../shared/ui/lazy';
import type { Part } from '../../part';

/** Comments on what a card shows. */
export const comments: Part = {
  card: { Comments: lazy(async () => (await import('./Comments')).Comments) }
};
