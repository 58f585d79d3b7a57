import { lazily } from '../../shared/lazily';

/** Few runs end while somebody looks. */
export const Remember = lazily(async () => (await import('./Remember')).Remember);
/** Few look at it. */
export const Memory = lazily(async () => (await import('./Memory')).Memory);
