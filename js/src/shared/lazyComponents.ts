/** Components that most pages never need; Lab loads each when it is first rendered. */

import { lazy } from './ui/lazy';

export const Comments = lazy(async () => (await import('./comments/Comments')).Comments);
export const Mentions = lazy(async () => (await import('./mentions/Mentions')).Mentions);
export const plans = {
  History: lazy(async () => (await import('./plan/History')).History),
  SaveWorkflow: lazy(async () => (await import('./plan/SaveWorkflow')).SaveWorkflow)
};
