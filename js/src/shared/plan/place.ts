import type { Channel } from '../channel/channel';

/** Which plan it is about, and where to ask. */
export interface PlanPlace {
  channel: Channel;
  context: string;
  planId: string;
  revision: number;
}

/** The address of something about that plan. */
export function addressOf(
  { context, planId }: PlanPlace,
  what: string,
  query: Record<string, number> = {}
): string {
  const asked = Object.entries(query).map(([name, value]) => `&${name}=${value}`);
  return `context/${context}/plan/${what}?plan_id=${encodeURIComponent(planId)}${asked.join('')}`;
}
