import type { NotebookPanel } from '@jupyterlab/notebook';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

type Listener = (sender: unknown, args: unknown) => void;
const signals = vi.hoisted(() => ({
  scheduled: vi.fn<(listener: Listener) => void>(),
  executed: vi.fn<(listener: Listener) => void>()
}));
vi.mock('@jupyterlab/notebook', () => ({
  NotebookActions: {
    executionScheduled: { connect: signals.scheduled },
    executed: { connect: signals.executed }
  }
}));
vi.mock('@jupyterlab/ui-components', () => ({ ToolbarButton: class {} }));

import { DataWatch } from '../../../../src/lab/parts/watch/dataWatch';
import { CoworkError, type Channel } from '../../../../src/shared/channel/channel';

interface Question {
  cell_id: string;
  execution_count: number;
}

const status = vi.fn<(listener: Listener) => void>();
const requestExecute = vi.fn(() => ({ done: Promise.resolve() }));
let asked: string[];
let stale: string[];
let isBusy: boolean;
let cells: ReturnType<typeof newCell>[];
let panel: NotebookPanel;

const channel = {
  request: (method: string, path: string, { cell_id = '' }: Partial<Question> = {}) => {
    if (path === 'cell-recorder') {
      return Promise.resolve({ expression: 'record()' });
    }
    if (method === 'GET') {
      const items = stale.map(id => ({ cell_id: id, cell: 1, name: 'orders', changed_id: '' }));
      return Promise.resolve({ items });
    }
    if (isBusy) {
      return Promise.reject(new CoworkError({ code: 'kernel_busy', message: 'busy' }));
    }
    asked.push(cell_id);
    return Promise.resolve({ items: [{ of: cell_id, line: `${cell_id}: 9 rows`, warnings: [] }] });
  }
} as unknown as Channel;

function newCell(id: string) {
  return {
    model: {
      id,
      type: 'code',
      executionCount: null as number | null,
      sharedModel: { source: `source of ${id}` }
    },
    node: document.createElement('div'),
    isDisposed: false,
    disposed: { connect: vi.fn() }
  };
}

function newPanel(): NotebookPanel {
  return {
    content: {
      model: { getMetadata: () => ({ watch_data: true }), defaultKernelLanguage: 'python' },
      widgets: cells
    },
    context: { localPath: 'a.ipynb', ready: Promise.resolve() },
    sessionContext: { statusChanged: { connect: status }, session: { kernel: { requestExecute } } },
    toolbar: { insertBefore: vi.fn() }
  } as unknown as NotebookPanel;
}

function schedule(...places: number[]): void {
  for (const at of places) {
    signals.scheduled.mock.lastCall?.[0]({}, { notebook: panel.content, cell: cells[at] });
  }
}

function end(at: number, count: number | null): void {
  const cell = cells[at];
  if (cell) {
    cell.model.executionCount = count;
    signals.executed.mock.lastCall?.[0]({}, { notebook: panel.content, cell });
  }
}

async function pass(milliseconds = 0): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(milliseconds).then(() => undefined));
}

function below(at: number): string {
  return cells[at]?.node.textContent ?? '';
}

beforeEach(async () => {
  vi.useFakeTimers();
  requestExecute.mockClear();
  [asked, stale, isBusy] = [[], [], false];
  cells = ['c0', 'c1', 'c2'].map(newCell);
  panel = newPanel();
  new DataWatch(channel, () => [panel]).addSwitch(panel);
  await pass();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('Watch my data', () => {
  it('has the kernel record before the first cell is sent, once', () => {
    schedule(0);
    expect(requestExecute).toHaveBeenCalledTimes(1);
    schedule(1, 2);
    expect(requestExecute).toHaveBeenCalledTimes(1);
  });

  it('asks about each cell when all have ended, but those that did not run', async () => {
    schedule(0, 1, 2);
    end(0, 1);
    end(1, 2);
    await pass();
    expect(asked).toEqual([]);
    end(2, null);
    await pass();
    expect(asked).toEqual(['c0', 'c1']);
    expect([0, 1, 2].map(below)).toEqual(['c0 9 rows', 'c1 9 rows', '']);
  });

  it('asks again if the kernel was busy', async () => {
    isBusy = true;
    schedule(0);
    end(0, 1);
    await pass();
    expect(below(0)).toBe('');
    isBusy = false;
    await pass(1000);
    expect(below(0)).toBe('c0 9 rows');
  });

  it('forgets what ran in a kernel that is gone, and has the next one record', async () => {
    schedule(0, 1);
    status.mock.lastCall?.[0]({}, 'restarting');
    schedule(2);
    expect(requestExecute).toHaveBeenCalledTimes(2);
    end(2, 1);
    await pass();
    expect(asked).toEqual(['c2']);
  });

  it('leaves out dependent cells that ran after it in the same run', async () => {
    stale = ['c1', 'c2'];
    schedule(0, 1);
    end(0, 1);
    end(1, 2);
    await pass();
    expect(below(0)).toContain('1 cell depends on this:');
  });
});
