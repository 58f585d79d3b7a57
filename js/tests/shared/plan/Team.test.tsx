import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';

import type { Plan, RunCardData } from '../../../src/shared/types';
import { RunCard } from '../../../src/shared/run/RunCard';
import {
  AT,
  event,
  executed,
  FakeServer,
  later,
  message,
  plan,
  planned,
  settled,
  step
} from '../../runs';
import { appears, button, click, draw, one } from '../../screen';

const TEAM = plan(3, {
  steps: [
    step(1, { role: 'actor' }),
    step(2, { role: 'tester' }),
    step(3, { role: 'reviewer', rounds: 2, tools_needed: [] })
  ]
});
const RIGHTS = 'Roles: actor may write, create, delete and run; reviewer only reads.';
const ROLES = ['planner', 'actor', 'commander', 'tester', 'reviewer'].map(name => ({
  ...{ name, label: name.toUpperCase(), icon: 'bolt', colour: 'green', description: '' },
  ...{ permissions: [], tools: [], delegates_to: name === 'commander' ? ['actor'] : [] }
}));

async function show(card: RunCardData): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const server = new FakeServer(card);
  server.answers.set('GET roles', { items: ROLES, next: null });
  const screen = draw(<RunCard card={card} channel={server} />);
  await act(settled);
  return { screen, server };
}

const rows = (screen: HTMLElement): HTMLElement[] => [
  ...screen.querySelectorAll<HTMLElement>('.cw-step')
];

async function choose(field: HTMLSelectElement, value: string): Promise<void> {
  await act(async () => {
    field.value = value;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

const select = (screen: HTMLElement, label: string): HTMLSelectElement =>
  one(screen, `select[aria-label="${label}"]`) as HTMLSelectElement;

describe('a plan of several roles', () => {
  it('shows who does each step, and above the approval what that lets them do', async () => {
    const { screen } = await show(planned({ plan: TEAM, rights: RIGHTS }));
    expect(rows(screen).map(row => one(row, '.cw-pill').textContent)).toEqual([
      'Actor',
      'Tester',
      'Reviewer'
    ]);
    expect(rows(screen)[2]!.textContent).toContain('may send the work back 2 times');
    expect(one(screen, '.cw-rights').textContent).toBe(RIGHTS);
    const text = screen.textContent ?? '';
    expect(text.indexOf(RIGHTS)).toBeLessThan(text.indexOf('Execute plan'));
    expect(text).not.toContain('Executing switches to Actor');
  });

  it('says nothing of roles where the plan names none', async () => {
    const { screen } = await show(planned());
    expect(rows(screen).some(row => row.querySelector('.cw-pill'))).toBe(false);
    expect(screen.querySelector('.cw-rights')).toBeNull();
  });

  it('is given to other roles in the editor, of those that can carry out a step', async () => {
    const { screen, server } = await show(planned({ plan: TEAM, rights: RIGHTS }));
    await click(button(screen, 'Edit steps'));
    await appears(screen, '.cw-editor');
    await act(settled);
    const second = select(screen, 'Step 2: who does it');
    expect([...second.options].map(({ value }) => value)).toEqual([
      '',
      'planner',
      'actor',
      'tester',
      'reviewer'
    ]);
    expect(second.value).toBe('tester');
    await choose(second, 'planner');
    await choose(select(screen, 'Step 1: who does it'), '');
    server.answers.set('PUT context/c1/plan', {
      ...{ plan: TEAM, revision: 2, made_at: AT, stale: [] },
      rights: 'Roles: planner only reads.'
    });
    await click(button(screen, 'Save'));
    const { plan: sent } = server.changes.at(-1)?.body as { plan: Plan };
    expect(sent.steps.map(({ role, rounds }) => [role, rounds])).toEqual([
      [null, 0],
      ['planner', 0],
      ['reviewer', 2]
    ]);
    expect(one(screen, '.cw-rights').textContent).toBe('Roles: planner only reads.');
  });
});

describe('rounds', () => {
  const said = (task_id: string, text: string): ReturnType<typeof message> =>
    message('text', text, { job_id: 'j2', task_id, role: 'assistant' });
  const task = (id: string, round: number, status: string): object => ({
    ...{ id, job_id: 'j2', step_id: '1', role: 'actor', status, round },
    ...{ description: '', result: null, error: null, created_at: AT, completed_at: later(4) }
  });

  it('stand with their step, each with its log', async () => {
    const { screen } = await show(
      executed({
        plan: TEAM,
        tasks: [task('t1', 0, 'completed'), task('t4', 1, 'completed')] as never,
        messages: [said('t1', 'First try.'), said('t4', 'Second try.')]
      })
    );
    const [first] = rows(screen);
    const folds = [...first!.querySelectorAll('summary')].map(({ textContent }) => textContent);
    expect(folds).toEqual(['Round 1: Log', 'Round 2: Log']);
    await click(first!.querySelectorAll<HTMLElement>('summary')[0]!);
    expect(screen.textContent?.match(/First try\./g)).toHaveLength(1);
  });

  it('begin when a review sends a step back: it waits, and then runs with its past', async () => {
    const steps = TEAM.steps.map(one => ({ ...one, status: 'completed' as const }));
    const { screen, server } = await show(
      executed({
        plan: { ...TEAM, steps },
        status: 'running',
        ended_at: null,
        seq: 10,
        tasks: [task('t1', 0, 'completed')] as never,
        messages: [said('t1', 'First try.')]
      })
    );
    expect(rows(screen)[0]!.className).toContain('cw-step-completed');
    const sentBack = { ...TEAM, revision: 1, rights: RIGHTS };
    const here = { job_id: 'j2' };
    await server.send(event(11, 'plan-update', sentBack, here));
    expect(rows(screen)[0]!.className).toContain('cw-step-pending');
    const began = { task_id: 't4', step_id: '1', status: 'running', role: 'actor', round: 1 };
    await server.send(event(12, 'task-started', began, { ...here, task_id: 't4' }));
    expect(rows(screen)[0]!.className).toContain('cw-step-running');
    expect(one(rows(screen)[0]!, 'summary').textContent).toBe('Round 1: Log');
  });
});
