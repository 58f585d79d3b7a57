import type { NotebookPanel } from '@jupyterlab/notebook';
import { describe, expect, it, vi } from 'vitest';

import { Refusal } from '../../../src/lab/notebook/edits';
import { hasRun, runCell, startKernel } from '../../../src/lab/notebook/running';

function fakePanel({ type = 'code', hasKernel = true, connects = false } = {}) {
  let end: (message: object) => void = () => undefined;
  let fail: () => void = () => undefined;
  const done = new Promise<object>((resolve, reject) => {
    end = resolve;
    fail = () => reject(new Error('dead'));
  });
  const future = { msg: { header: { msg_id: 'request-1' } }, done };
  const requestExecute = vi.fn(() => future);
  const model = {
    id: 'c1',
    type,
    sharedModel: { source: 'x = 1' },
    trusted: false,
    executionCount: 7 as number | null,
    clearExecution: vi.fn()
  };
  const cell = { model, outputArea: { future: null }, outputHidden: true, setPrompt: vi.fn() };
  const startsWith = vi.fn(async () => false);
  const session = { kernel: { requestExecute } };
  let connect: () => void = () => undefined;
  const ready = new Promise<void>(resolve => (connect = resolve));
  const sessionContext = {
    session: hasKernel && !connects ? session : null,
    isReady: !connects,
    ready: ready.then(() => {
      sessionContext.session = hasKernel ? session : null;
    }),
    startKernel: startsWith
  };
  const panel = { content: { widgets: [cell] }, sessionContext } as unknown as NotebookPanel;
  return { panel, cell, model, future, requestExecute, startsWith, connect, end, fail };
}

async function refusal(work: Promise<unknown>): Promise<Refusal> {
  try {
    await work;
  } catch (error) {
    return error as Refusal;
  }
  throw new Error('It was not refused.');
}

describe('a cell that the agent runs', () => {
  it('runs in the kernel of the notebook, and its outputs go where those of the cell go', async () => {
    const { panel, cell, model, future, requestExecute, end } = fakePanel();
    const { request, done } = await runCell(panel, 'c1', 'x = 1');
    expect(request).toBe('request-1');
    expect(requestExecute).toHaveBeenCalledWith(
      { code: 'x = 1', allow_stdin: false, stop_on_error: false },
      false,
      { cellId: 'c1' }
    );
    expect(cell.outputArea.future).toBe(future);
    expect(cell.setPrompt).toHaveBeenLastCalledWith('*');
    expect(model.clearExecution).toHaveBeenCalled();
    end({ content: { execution_count: 8 } });
    await done;
    expect(model.executionCount).toBe(8);
  });

  it('waits for the kernel of a page that was just reloaded', async () => {
    const { panel, cell, requestExecute, connect } = fakePanel({ connects: true });
    const started = runCell(panel, 'c1', 'x = 1');
    await Promise.resolve();
    expect(cell.setPrompt).not.toHaveBeenCalled();
    connect();
    expect((await started).request).toBe('request-1');
    expect(requestExecute).toHaveBeenCalled();
  });

  it('is refused if the kernel does not come', async () => {
    vi.useFakeTimers();
    const waiting = refusal(runCell(fakePanel({ connects: true }).panel, 'c1', 'x = 1'));
    await vi.advanceTimersByTimeAsync(20_000);
    vi.useRealTimers();
    expect((await waiting).code).toBe('no_kernel');
  });

  it('is waited for until all that it puts out is there', async () => {
    const { panel, end } = fakePanel();
    await hasRun(panel, 'c1');
    await runCell(panel, 'c1', 'x = 1');
    let over = false;
    const waiting = hasRun(panel, 'c1').then(() => (over = true));
    await Promise.resolve();
    expect(over).toBe(false);
    end({ content: {} });
    await waiting;
  });

  it('does not look as if it ran for ever when its kernel goes away', async () => {
    const { panel, cell, fail } = fakePanel();
    const { done } = await runCell(panel, 'c1', 'x = 1');
    fail();
    await done;
    expect(cell.setPrompt).toHaveBeenLastCalledWith('');
  });

  it('is refused if the user has changed it, with what it is now', async () => {
    const { panel, requestExecute } = fakePanel();
    const { code, facts } = await refusal(runCell(panel, 'c1', 'x = 2'));
    expect(code).toBe('stale_cell');
    expect(facts).toEqual({ cell: { id: 'c1', cell_type: 'code', source: 'x = 1' } });
    expect(requestExecute).not.toHaveBeenCalled();
  });

  it('is refused if it is gone, or is no code, or there is no kernel', async () => {
    expect((await refusal(runCell(fakePanel().panel, 'c2', 'x = 1'))).code).toBe('no_such_cell');
    expect(
      (await refusal(runCell(fakePanel({ type: 'markdown' }).panel, 'c1', 'x = 1'))).code
    ).toBe('stale_cell');
    expect(
      (await refusal(runCell(fakePanel({ hasKernel: false }).panel, 'c1', 'x = 1'))).code
    ).toBe('no_kernel');
  });
});

describe('a kernel', () => {
  it('is started only where there is none, and is refused if the user has to choose', async () => {
    const running = fakePanel();
    await startKernel(running.panel);
    expect(running.startsWith).not.toHaveBeenCalled();
    const reloaded = fakePanel({ connects: true });
    reloaded.connect();
    await startKernel(reloaded.panel);
    expect(reloaded.startsWith).not.toHaveBeenCalled();
    const without = fakePanel({ hasKernel: false });
    await startKernel(without.panel);
    expect(without.startsWith).toHaveBeenCalled();
    without.startsWith.mockResolvedValue(true);
    await expect(startKernel(without.panel)).rejects.toThrow('no_kernel');
  });
});
