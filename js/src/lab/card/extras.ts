/** What cards and fields offer in JupyterLab only: too large for the widget's single script. */

import { lazy } from '../../shared/ui/lazy';

export const Mentions = lazy(async () => (await import('../../shared/mentions/Mentions')).Mentions);
export const History = lazy(async () => (await import('../../shared/plan/History')).History);
