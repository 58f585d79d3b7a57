import { Comments } from '../../shared/comments/lazy';
import type { CardHost } from '../../shared/host';
import { Mentions } from '../../shared/mentions/lazy';
import { plans } from '../../shared/plan/lazy';
import { Remember } from '../memory/lazy';

/** What cards have in JupyterLab, fetched when it is needed: too much for a widget’s script. */
export const extras = { Comments, Mentions, Remember, plans } satisfies CardHost;
