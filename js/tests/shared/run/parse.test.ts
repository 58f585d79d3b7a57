import { describe, expect, it } from 'vitest';

import { planOf, reproductionOf } from '../../../src/shared/run/parse';

const rows = { id: 'exp_1', of: 'orders', check: 'rows', op: '=', value: 3, by: 'planner' };

describe('what came over the wire', () => {
  it('keeps what a step expects, or an edit would lose it', () => {
    const plan = planOf({ goal: 'g', steps: [{ action: 'a', expects: [rows, 'odd'] }, {}] });
    expect(plan.steps.map(step => step.expects)).toEqual([[rows], []]);
  });

  it('keeps which expectations a check has found broken', () => {
    const broken = [{ expectation: rows, found: 'it is 4' }];
    expect(reproductionOf({ broken, expectations: 2 })).toMatchObject({ broken, expectations: 2 });
    expect(reproductionOf({})).toMatchObject({ broken: [], expectations: 0 });
  });
});
