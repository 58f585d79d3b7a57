/** Plan edits as pure functions. */

import type { Plan, PlanStep } from '../types';

/** Numbers follow the list order; ids stay, because dependencies refer to them. */
function renumbered(plan: Plan, steps: readonly PlanStep[]): Plan {
  return { ...plan, steps: steps.map((step, index) => ({ ...step, step_number: index + 1 })) };
}

export function moveStep(plan: Plan, from: number, to: number): Plan {
  if (from === to || to < 0 || to >= plan.steps.length) {
    return plan;
  }
  const steps = [...plan.steps];
  const [moved] = steps.splice(from, 1);
  steps.splice(to, 0, moved!);
  return renumbered(plan, steps);
}

/** Steps that depended on the removed step now depend on its dependencies. */
export function removeStep(plan: Plan, at: number): Plan {
  const gone = plan.steps[at];
  if (!gone || plan.steps.length === 1) {
    return plan;
  }
  const steps = plan.steps
    .filter(step => step !== gone)
    .map(step => ({
      ...step,
      depends_on: [
        ...new Set(step.depends_on.flatMap(id => (id === gone.id ? gone.depends_on : [id])))
      ]
    }));
  return renumbered(plan, steps);
}

/** The new step depends on the last one. */
export function addStep(plan: Plan): Plan {
  const last = plan.steps[plan.steps.length - 1];
  const step: PlanStep = {
    id: freshId(plan),
    step_number: 0,
    action: '',
    reason: '',
    tools_needed: [],
    files: [],
    depends_on: last ? [last.id] : [],
    estimated_time: '',
    expects: [],
    role: null,
    agent: '',
    rounds: 0,
    status: 'pending'
  };
  return renumbered(plan, [...plan.steps, step]);
}

function freshId(plan: Plan): string {
  const taken = new Set(plan.steps.map(({ id }) => id));
  let number = plan.steps.length + 1;
  while (taken.has(String(number))) {
    number += 1;
  }
  return String(number);
}

export function changeStep(plan: Plan, at: number, change: Partial<PlanStep>): Plan {
  return {
    ...plan,
    steps: plan.steps.map((step, index) => (index === at ? { ...step, ...change } : step))
  };
}

/** Only reviews can send work back. */
export function assignRole(plan: Plan, at: number, role: PlanStep['role']): Plan {
  return changeStep(plan, at, { role, rounds: 0 });
}

export function toggleDependency(plan: Plan, at: number, id: string): Plan {
  const needed = plan.steps[at]?.depends_on ?? [];
  return changeStep(plan, at, {
    depends_on: needed.includes(id) ? needed.filter(one => one !== id) : [...needed, id]
  });
}

/** Whether making `step` depend on `other` would create a cycle. */
export function wouldCreateCycle(plan: Plan, step: string, other: string): boolean {
  const byId = new Map(plan.steps.map(one => [one.id, one]));
  const seen = new Set<string>();
  const open = [other];
  while (open.length > 0) {
    const id = open.pop()!;
    if (id === step) {
      return true;
    }
    if (!seen.has(id)) {
      seen.add(id);
      open.push(...(byId.get(id)?.depends_on ?? []));
    }
  }
  return false;
}

export function listOf(text: string): string[] {
  return text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean);
}
