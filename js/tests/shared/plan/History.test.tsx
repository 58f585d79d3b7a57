import { expect, it } from 'vitest';

import { History } from '../../../src/shared/plan/History';
import { AT, FakeServer } from '../../runs';
import { button, draw, one } from '../../screen';
import { calm, list, press, write } from '../../lab/panel/drawing';

const AT_PLAN = 'context/c1/plan';
const revision = (number: number, by: string, change: string): Record<string, unknown> => ({
  revision: number,
  made_at: AT,
  by,
  change
});
const compared = (from: number, to: number): [string, unknown] => [
  `GET ${AT_PLAN}/compare?plan_id=p1&from=${from}&to=${to}`,
  {
    from_revision: from,
    to_revision: to,
    summary: '1 step changed',
    fields: [{ field: 'goal', before: 'Old', after: 'New' }],
    steps: [
      {
        id: 'a',
        number: 1,
        change: 'changed',
        action: `Step of ${to}`,
        fields: [{ field: 'files', before: '', after: 'a.csv' }]
      },
      { id: 'b', number: 2, change: 'removed', action: 'Gone', fields: [] }
    ]
  }
];

async function opened(): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const server = new FakeServer();
  const answers: [string, unknown][] = [
    [
      `GET ${AT_PLAN}/revisions?plan_id=p1`,
      list(
        revision(1, 'planner', ''),
        revision(2, 'person', '1 step changed'),
        revision(3, 'person', '1 step removed')
      )
    ],
    compared(2, 3),
    compared(1, 3),
    [`POST ${AT_PLAN}/restore`, {}]
  ];
  answers.forEach(([request, answer]) => server.answers.set(request, answer));
  const screen = draw(<History channel={server} context="c1" planId="p1" revision={3} />);
  await calm();
  return { screen, server };
}

it('lists who changed what, newest first, and compares the last two at once', async () => {
  const { screen } = await opened();
  const rows = [...screen.querySelectorAll('.cw-revision')].map(row => row.textContent ?? '');
  expect(rows[0]).toContain('Revision 3 You: 1 step removed');
  expect(rows[2]).toContain('Revision 1 Planner');
  const told = one(screen, '.cw-differences');
  expect(told.textContent).toContain('Goal: Old → New');
  expect(told.textContent).toContain('1. Step of 3 (changed)');
  expect(told.textContent).toContain('Files: a.csv');
  expect(told.textContent).toContain('2. Gone (removed)');
});

it('compares any two', async () => {
  const { screen, server } = await opened();
  await write(one<HTMLSelectElement>(screen, 'select'), '1');
  expect(server.asked.map(({ path }) => path)).toContain(
    `${AT_PLAN}/compare?plan_id=p1&from=1&to=3`
  );
});

it('restores an earlier one, and never the newest', async () => {
  const { screen, server } = await opened();
  expect(screen.querySelectorAll('.cw-revision button')).toHaveLength(2);
  await press(button(one(screen, '.cw-revision:last-child'), 'Restore'));
  expect(server.changes).toEqual([
    { method: 'POST', path: `${AT_PLAN}/restore`, body: { revision: 1, plan_id: 'p1' } }
  ]);
});
