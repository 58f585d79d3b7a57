import { describe, expect, it } from 'vitest';

import {
  addStep,
  listOf,
  moveStep,
  removeStep,
  toggleDependency,
  wouldCreateCycle
} from '../../../src/shared/plan/editing';
import { isChain, layout } from '../../../src/shared/plan/layout';
import { plan, step } from '../../runs';

describe('editing a plan', () => {
  it('moves a step, numbers them anew, and leaves ids alone, as dependencies name them', () => {
    const moved = moveStep(plan(3), 2, 0);
    expect(moved.steps.map(({ id, step_number }) => [id, step_number])).toEqual([
      ['3', 1],
      ['1', 2],
      ['2', 3]
    ]);
    expect(moved.steps[0]?.depends_on).toEqual(['2']);
  });

  it('does not move past the ends', () => {
    const three = plan(3);
    expect(moveStep(three, 0, -1)).toBe(three);
    expect(moveStep(three, 2, 3)).toBe(three);
  });

  it('lets those who waited for a removed step wait for what that one waited for', () => {
    const removed = removeStep(plan(3), 1);
    expect(removed.steps.map(({ id, depends_on }) => [id, depends_on])).toEqual([
      ['1', []],
      ['3', ['1']]
    ]);
  });

  it('keeps the last step', () => {
    const single = plan(1);
    expect(removeStep(single, 0)).toBe(single);
  });

  it('adds a step with an id that nobody has', () => {
    const odd = plan(2, { steps: [step(1, { id: '3' }), step(2, { id: '2', depends_on: ['3'] })] });
    expect(addStep(odd).steps.at(-1)).toMatchObject({
      id: '4',
      step_number: 3,
      depends_on: ['2'],
      action: ''
    });
  });

  it('switches a dependency on and off', () => {
    const on = toggleDependency(plan(3), 2, '1');
    expect(on.steps[2]?.depends_on).toEqual(['2', '1']);
    expect(toggleDependency(on, 2, '2').steps[2]?.depends_on).toEqual(['1']);
  });

  it('sees that steps would wait for each other', () => {
    expect(wouldCreateCycle(plan(3), '1', '3')).toBe(true);
    expect(wouldCreateCycle(plan(3), '3', '1')).toBe(false);
    expect(wouldCreateCycle(plan(3), '2', '2')).toBe(true);
  });

  it('reads names with commas between them', () => {
    expect(listOf(' a.py, ,b.py ')).toEqual(['a.py', 'b.py']);
  });
});

describe('the drawing of dependencies', () => {
  it('puts what can run side by side into one column', () => {
    const steps = [step(1), step(2, { depends_on: [] }), step(3, { depends_on: ['1', '2'] })];
    expect(layout(steps).map(({ column, row }) => [column, row])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0]
    ]);
    expect(isChain(steps)).toBe(false);
  });

  it('is not needed for one thing after the other', () => {
    expect(isChain(plan(4).steps)).toBe(true);
    expect(isChain([step(1), step(2), step(3, { depends_on: ['1', '2'] })])).toBe(true);
  });

  it('survives a circle and unknown names', () => {
    expect(layout([step(1, { depends_on: ['2', 'x'] }), step(2)])).toHaveLength(2);
  });

  it('is quick for a large plan', () => {
    const steps = Array.from({ length: 200 }, (_, at) =>
      step(at + 1, { depends_on: at ? [String(at), String(Math.ceil(at / 2))] : [] })
    );
    expect(layout(steps).at(-1)?.column).toBe(199);
  });
});
