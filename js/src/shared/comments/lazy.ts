import { lazily } from '../lazily';

/** Once the user comes near: most cards are only read. */
export const Comments = lazily(async () => (await import('./Comments')).Comments);
