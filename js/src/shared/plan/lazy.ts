import { lazily } from '../lazily';

/** What most plans never need: how they came about, and a life as workflows. */
export const plans = {
  History: lazily(async () => (await import('./History')).History),
  SaveWorkflow: lazily(async () => (await import('./SaveWorkflow')).SaveWorkflow)
};
