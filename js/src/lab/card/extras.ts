import type { CardHost } from '../../shared/card/host';
import { Comments, Mentions, plans } from '../../shared/lazyComponents';
import { lazy } from '../../shared/ui/lazy';

const Remember = lazy(async () => (await import('../memory/Remember')).Remember);

/** What cards offer in JupyterLab only: too large for the widget's single script. */
export const extras = { Comments, Mentions, Remember, plans } satisfies CardHost;
