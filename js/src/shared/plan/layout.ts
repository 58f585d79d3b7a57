/** Layout of the dependency graph. */

import type { PlanStep } from '../types';

export interface Node {
  step: PlanStep;
  column: number;
  row: number;
}

/** One column per rank (longest path from the start). Cycles are drawn flat. */
export function layout(steps: readonly PlanStep[]): Node[] {
  const byId = new Map(steps.map(step => [step.id, step]));
  const ranks = new Map<string, number>();
  const rank = (step: PlanStep, path: ReadonlySet<string>): number => {
    const known = ranks.get(step.id);
    if (known !== undefined || path.has(step.id)) {
      return known ?? 0;
    }
    const before = step.depends_on.map(id => byId.get(id)).filter(one => one !== undefined);
    const found = Math.max(-1, ...before.map(one => rank(one, new Set([...path, step.id])))) + 1;
    ranks.set(step.id, found);
    return found;
  };
  const used = new Map<number, number>();
  return steps.map(step => {
    const column = rank(step, new Set());
    const row = used.get(column) ?? 0;
    used.set(column, row + 1);
    return { step, column, row };
  });
}

/** A linear plan needs no graph. */
export function isChain(steps: readonly PlanStep[]): boolean {
  return layout(steps).every(({ column }, at) => column === at);
}

export function hasDependencies(steps: readonly PlanStep[]): boolean {
  return steps.some(step => step.depends_on.length > 0);
}
