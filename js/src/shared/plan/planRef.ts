import type { Channel } from '../channel/channel';

/** Identifies a plan, with the channel to reach it. */
export interface PlanRef {
  channel: Channel;
  context: string;
  planId: string;
  revision: number;
}

export function planUrl(
  { context, planId }: PlanRef,
  what: string,
  query: Record<string, number> = {}
): string {
  const asked = Object.entries(query).map(([name, value]) => `&${name}=${value}`);
  return `context/${context}/plan/${what}?plan_id=${encodeURIComponent(planId)}${asked.join('')}`;
}
