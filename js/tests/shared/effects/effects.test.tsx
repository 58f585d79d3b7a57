import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';

import { withoutAssumptions } from '../../../src/shared/effects/Assumptions';
import { WithFigures } from '../../../src/shared/effects/Figures';
import { describeExpectation, pinsFor } from '../../../src/shared/effects/pins';
import { HostProvider } from '../../../src/shared/card/host';
import { RunCard } from '../../../src/shared/run/RunCard';
import type { DataEffect, Figure, RunCardData, TableState } from '../../../src/shared/types';
import { event, executed, FakeServer, message, plan, planned, runCard, settled } from '../../runs';
import { button, click, draw, one } from '../../screen';

const TABLE: TableState = {
  rows: 12_612,
  columns: 2,
  kind: 'pandas.DataFrame',
  duplicates: 3,
  sampled: false,
  fields: [
    { name: 'id', type: 'int64', missing: 0, distinct: 12_612 },
    { name: 'revenue', type: 'float64', missing: 214, distinct: 900, low: 0.5, high: 99 }
  ].map(field => ({ low: null, high: null, total: null, values: [], zone: null, ...field }))
};

const EFFECT: DataEffect = {
  of: 'orders',
  call_id: 'call_1',
  cell_id: 'cell-4',
  line: 'orders: 12,431 → 12,612 rows (+181)',
  before: null,
  after: TABLE,
  warnings: [
    {
      code: 'join_multiplied_rows',
      message: 'The join multiplied rows. 18 keys appear twice in customers.',
      line: 2,
      evidence: { added: 181 },
      advice: 'Drop repeated customers first.'
    }
  ]
};

const CALL = message('tool_call', '', {
  data: { call_id: 'call_1', tool: 'run_cell', parameters: {} },
  task_id: 't1'
});

async function show(
  card: RunCardData,
  server = new FakeServer(card)
): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const screen = draw(<RunCard card={card} channel={server} />);
  await act(settled);
  return { screen, server };
}

describe('data effects', () => {
  it('stand under the call, with their warning and its numbers', async () => {
    const { screen, server } = await show(runCard({ messages: [{ ...CALL, task_id: null }] }));
    await server.send(event(11, 'data-effect', EFFECT), event(12, 'data-effect', EFFECT));
    expect(one(screen, '.cw-effect-line').textContent).toBe('orders 12,431 → 12,612 rows (+181)');
    expect(screen.querySelectorAll('.cw-effect')).toHaveLength(1);
    expect(one(screen, '.cw-warning').textContent).toContain('18 keys appear twice');
    expect(one(screen, '.cw-warning').textContent).toContain('line 2');
  });

  it('are in the saved card, and stand with their step', async () => {
    const task = { id: 't1', step_id: '1', status: 'completed' } as const;
    const call = { ...CALL, job_id: 'j2' };
    const card = executed({ tasks: [task], messages: [call], effects: [EFFECT] });
    const { screen } = await show(card);
    expect(one(screen, '.cw-step .cw-effect-line').textContent).toContain('12,612 rows');
  });

  it('are told whole by the server where a card has them in short', async () => {
    const { before, after, ...short } = EFFECT;
    const card = runCard({ messages: [{ ...CALL, task_id: null }], effects: [short] });
    const server = new FakeServer(card);
    server.effects = [{ ...short, before: before ?? null, after: after ?? null }];
    const { screen } = await show(card, server);
    expect(screen.querySelectorAll('.cw-effect')).toHaveLength(1);
    expect(button(screen, 'Pin…')).toBeTruthy();
  });

  it('survive what a stranger wrote into the notebook', async () => {
    const odd = [{ of: 3, call_id: 'call_1', after: { fields: [null] }, warnings: [1] }, null];
    const card = runCard({ messages: [{ ...CALL, task_id: null }], effects: odd as never });
    const { screen } = await show(card);
    expect(one(screen, '.cw-call')).toBeTruthy();
  });

  it('can be pinned, and what is expected can be removed', async () => {
    const { screen, server } = await show(
      runCard({ messages: [{ ...CALL, task_id: null }], effects: [EFFECT] })
    );
    server.answers.set('GET context/c1/expectations', { items: [], next: null });
    server.answers.set('POST context/c1/expectations', {});
    await click(button(screen, 'Pin…'));
    await act(settled);
    await click(button(screen, 'id is unique'));
    await act(settled);
    expect(server.changes.at(-1)).toEqual({
      method: 'POST',
      path: 'context/c1/expectations',
      body: { of: 'orders', check: 'unique', column: 'id' }
    });
  });
});

describe('what can be pinned', () => {
  it('is what is true of all rows', () => {
    expect(pinsFor('orders', TABLE).map(describeExpectation)).toEqual([
      'rows = 12,612',
      'columns = 2',
      'id is unique',
      'no missing id',
      'revenue ≥ 0'
    ]);
    expect(pinsFor('orders', { ...TABLE, sampled: true }).map(describeExpectation)).toEqual([
      'rows = 12,612',
      'columns = 2'
    ]);
  });
});

describe('figures', () => {
  const figures: Figure[] = [
    { text: '61.4 %', value: 0.614, source: { cell_id: 'cell-4', call_id: null, stale: false } },
    { text: '12 %', value: 0.12, source: null }
  ];

  it('lead to their cells, and those without a source stand out', async () => {
    const shown: string[] = [];
    const screen = draw(
      <HostProvider value={{ showCell: id => shown.push(id) }}>
        <WithFigures figures={figures}>
          <p>
            Business brings 61.4 % (<code>12 %</code>); 112 % is another number, returns fell by 12
            %.
          </p>
        </WithFigures>
      </HostProvider>
    );
    await act(settled);
    await click(one<HTMLButtonElement>(screen, 'button.cw-figure'));
    expect(shown).toEqual(['cell-4']);
    expect(screen.querySelectorAll('.cw-figure-lost')).toHaveLength(1); // not the one in the code
    expect(one(screen, '.cw-figure-summary').textContent).toBe(
      '1 figure found in outputs · not found in any output: 12 %'
    );
  });

  it('are marked where they are whole numbers', async () => {
    const screen = draw(
      <WithFigures figures={figures}>
        <p>112 % is another number; returns fell by 12 %.</p>
      </WithFigures>
    );
    await act(settled);
    const lost = one(screen, '.cw-figure-lost');
    expect(lost.previousSibling?.textContent).toMatch(/fell by $/);
  });
});

describe('assumptions', () => {
  it('of a plan are confirmed with a click, or corrected in words', async () => {
    const { screen, server } = await show(
      planned({
        plan: plan(1, {
          assumptions: [
            {
              text: 'Dates are day/month/year',
              status: 'open',
              correction: '',
              alternatives: []
            },
            {
              text: 'Orders without a customer are left out',
              status: 'open',
              correction: '',
              alternatives: []
            }
          ]
        })
      })
    );
    server.answers.set('POST context/c1/assumptions', { items: [], next: null });
    await click(button(screen, 'Right'));
    await act(settled);
    expect(server.changes.at(-1)?.body).toMatchObject({
      plan_id: 'p1',
      index: 0,
      status: 'confirmed'
    });
    expect(one(screen, '.cw-assumption').textContent).toContain('confirmed');
    await click(button(screen, 'No…'));
    const field = one<HTMLInputElement>(screen, '.cw-assumption input');
    await act(async () => {
      field.value = 'Keep them as unknown';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await click(button(screen, 'Send to the planner'));
    await act(settled);
    expect(server.changes.at(-1)?.body).toMatchObject({
      index: 1,
      status: 'corrected',
      correction: 'Keep them as unknown'
    });
  });

  it('offer what else could be meant, one click away', async () => {
    const other = 'mean of `revenue` by `region`';
    const assumed = {
      text: 'You mean: sum of `revenue` by `region`',
      status: 'open' as const,
      correction: '',
      alternatives: [other]
    };
    const { screen, server } = await show(planned({ plan: plan(1, { assumptions: [assumed] }) }));
    server.answers.set('POST context/c1/assumptions', { items: [], next: null });
    expect(one(screen, '.cw-assumption code').textContent).toBe('revenue');
    await click(button(screen, 'Instead: mean of revenue by region'));
    await act(settled);
    expect(server.changes.at(-1)?.body).toMatchObject({
      index: 0,
      status: 'corrected',
      correction: other
    });
  });
});

describe('the words of an answer', () => {
  const assumed = [{ text: 'In euros', status: 'open' as const, correction: '', alternatives: [] }];

  it.each([
    ['North leads.\n\n**Assumptions:**\n- In euros\n\nBye', 'North leads.\n\nBye'],
    ['North leads.\n\n## Annahmen\n1. In Euro', 'North leads.\n'],
    ['No heading - at all', 'No heading - at all']
  ])('have no second list of its assumptions: %j', (words, shown) => {
    expect(withoutAssumptions(words, assumed)).toBe(shown);
    expect(withoutAssumptions(words, [])).toBe(words);
  });
});

describe('a warning', () => {
  it('can be silenced, and heard again', async () => {
    const card = runCard({ messages: [{ ...CALL, task_id: null }], effects: [EFFECT] });
    const { screen, server } = await show(card);
    server.answers.set('POST context/c1/silenced', {});
    await click(button(screen, 'Silence'));
    await click(button(screen, 'In this notebook'));
    await act(settled);
    const silence = { code: 'join_multiplied_rows', scope: 'notebook', cell_id: 'cell-4' };
    expect(server.changes.at(-1)?.body).toEqual({ ...silence, silenced: true });
    expect(screen.querySelector('.cw-warning')).toBeNull();
    await click(button(screen, 'Undo'));
    await act(settled);
    expect(server.changes.at(-1)?.body).toEqual({ ...silence, silenced: false });
    expect(one(screen, '.cw-warning')).toBeTruthy();
  });
});
