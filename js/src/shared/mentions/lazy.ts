import { lazily } from '../lazily';

/** Put it behind a field in which one writes to the agent. */
export const Mentions = lazily(async () => (await import('./Mentions')).Mentions);
