import { describe, expect, it, vi } from 'vitest';

import { HostProvider, type CardHost } from '../../../src/shared/card/host';
import { hasTouchedCells, type CallEntry, type RunState } from '../../../src/shared/run/state';
import { ToolCall } from '../../../src/shared/run/ToolCall';
import { button, click, draw } from '../../screen';

const CALL: CallEntry = {
  kind: 'call',
  id: 'call_1',
  at: '2026-01-01T10:00:00Z',
  seconds: 0,
  job: 'job_1',
  task: null,
  role: 'planner',
  tool: 'run_code',
  parameters: { code: 'orders.amount.mean()', where: 'scratch' },
  ok: true,
  summary: 'ran code in scratch',
  refused: '',
  output: '',
  result: '41.87',
  diff: '',
  effects: [],
  setAside: null
};

function show(call: CallEntry, host: CardHost): HTMLElement {
  return draw(
    <HostProvider value={host}>
      <ToolCall call={call} />
    </HostProvider>
  );
}

describe('Code that ran in scratch', () => {
  it('says where, and is kept as a cell with one click', async () => {
    const insertCell = vi.fn(async () => undefined);
    const screen = show(CALL, { insertCell });
    expect(screen.textContent).toContain('ran code in scratch');
    await click(button(screen, 'Keep as cell'));
    expect(insertCell).toHaveBeenCalledWith('orders.amount.mean()');
  });

  it.each<[string, CallEntry, boolean]>([
    ['there is no notebook', CALL, false],
    ['it failed', { ...CALL, ok: false }, true],
    ['it ran in the notebook’s kernel', { ...CALL, parameters: { code: 'x' } }, true]
  ])('is not offered as a cell where %s', (_where, call, hasNotebook) => {
    const host = hasNotebook ? { insertCell: async () => undefined } : {};
    expect(show(call, host).textContent).not.toContain('Keep as cell');
  });

  it('leaves the notebook as it was', () => {
    const after = (call: CallEntry): boolean =>
      hasTouchedCells({ entries: [call] } as unknown as RunState);
    expect(after(CALL)).toBe(false);
    expect(after({ ...CALL, parameters: { code: 'x' } })).toBe(true);
  });
});
