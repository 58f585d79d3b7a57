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
vi.mock('@jupyterlab/ui-components', () => ({
  ToolbarButton: class {
    constructor({ onClick }: { onClick: () => void }) {
      press = onClick;
    }
  }
}));

import { DataWatch, PAUSE_MS } from '../../../src/lab/notebook/dataWatch';
import type { Channel } from '../../../src/shared/channel/channel';

/** What the server is asked about tables, without what is always the same. */
interface Question {
  cell_id: string;
  phase: string;
  together?: string[];
}

const EFFECT = { of: 'orders', call_id: null, line: 'orders: 10 → 5 rows (−5)', warnings: [] };
const status = vi.fn<(listener: Listener) => void>();
let asked: Question[];
let stale: string[];
let isBusy: boolean;
let cells: ReturnType<typeof newCell>[];

const channel = {
  request: (method: string, _path: string, body?: Question) => {
    if (method === 'GET') {
      const items = stale.map(cell_id => ({ cell_id, cell: 1, name: 'orders', changed_id: '' }));
      return Promise.resolve({ items });
    }
    if (isBusy) {
      return Promise.reject(new Error('kernel_busy'));
    }
    asked.push(body as Question);
    return Promise.resolve({ items: body?.phase === 'after' ? [EFFECT] : [] });
  }
} as unknown as Channel;

function newCell(id: string) {
  const listeners = new Set<Listener>();
  const model = {
    id,
    type: 'code',
    executionCount: null as number | null,
    sharedModel: { source: `source of ${id}` },
    stateChanged: {
      connect: (listener: Listener) => listeners.add(listener),
      disconnect: (listener: Listener) => listeners.delete(listener)
    },
    ran: (count: number | null) => {
      model.executionCount = count;
      listeners.forEach(tell => tell(model, { name: 'executionCount', newValue: count }));
    }
  };
  return {
    model,
    node: document.createElement('div'),
    isDisposed: false,
    disposed: { connect: vi.fn() }
  };
}

function newPanel(): NotebookPanel {
  let metadata: object = { watch_data: true };
  return {
    content: {
      model: {
        getMetadata: () => metadata,
        setMetadata: (_key: string, value: object) => (metadata = value)
      },
      widgets: cells
    },
    context: { localPath: 'a.ipynb', ready: Promise.resolve() },
    sessionContext: { statusChanged: { connect: status }, ready: Promise.resolve() },
    toolbar: { insertBefore: vi.fn() }
  } as unknown as NotebookPanel;
}

let panel: NotebookPanel;
let press: () => void;

function schedule(at: number): void {
  signals.scheduled.mock.lastCall?.[0]({}, { notebook: panel.content, cell: cells[at] });
}

function end(at: number, count: number | null = 1): void {
  cells[at]?.model.ran(count);
  signals.executed.mock.lastCall?.[0]({}, { notebook: panel.content, cell: cells[at] });
}

async function settle(): Promise<void> {
  await act(async () => {
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
  });
}

function tell(kernel: string): void {
  status.mock.lastCall?.[0]({}, kernel);
}

function below(at: number): string {
  return cells[at]?.node.textContent ?? '';
}

function lastQuestion(): Question | undefined {
  return asked.at(-1);
}

beforeEach(async () => {
  vi.useFakeTimers();
  [asked, stale, isBusy] = [[], [], false];
  cells = ['c0', 'c1', 'c2'].map(newCell);
  panel = newPanel();
  new DataWatch(channel, () => [panel]).addSwitch(panel);
  await settle();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('Watch my data', () => {
  it('compares one cell with what was there before it', async () => {
    schedule(0);
    end(0);
    await settle();
    expect(asked.map(({ phase }) => phase)).toEqual(['before', 'before', 'after']);
    expect(lastQuestion()?.together).toEqual([]);
    expect(below(0)).toContain('10 → 5 rows');
    expect(below(0)).not.toContain('together');
  });

  it('compares cells that ran together once, below the last of them', async () => {
    [0, 1, 2].forEach(schedule);
    end(0);
    await settle();
    end(1);
    end(2);
    await settle();
    expect(asked.filter(({ phase }) => phase === 'after')).toHaveLength(1);
    expect(lastQuestion()).toMatchObject({
      cell_id: 'c2',
      together: ['source of c0', 'source of c1']
    });
    expect(below(2)).toContain('3 cells ran together:');
    expect(below(2)).toContain('10 → 5 rows');
    expect(below(0) + below(1)).toBe('');
  });

  it('takes cells run in quick succession as one run', async () => {
    for (const at of [0, 1]) {
      schedule(at);
      end(at);
    }
    await settle();
    expect(below(1)).toContain('2 cells ran together:');
  });

  it('leaves out cells that did not run because one before them failed', async () => {
    [0, 1, 2].forEach(schedule);
    end(0);
    end(1);
    end(2, null);
    await settle();
    expect(below(1)).toContain('2 cells ran together:');
  });

  it('says nothing of what changed across a restart, and goes on from there', async () => {
    [0, 1].forEach(schedule);
    tell('restarting');
    isBusy = true;
    tell('idle');
    await settle();
    isBusy = false;
    [0, 1].forEach(schedule);
    [0, 1].forEach(at => end(at));
    await settle();
    expect(lastQuestion()).toMatchObject({ source: '', phase: 'before' });
    expect(below(1)).toBe('');
    [0, 1].forEach(schedule);
    [0, 1].forEach(at => end(at, 2));
    await settle();
    expect(below(1)).toContain('2 cells ran together:');
  });

  it('takes the state of a restarted kernel as soon as it is ready', async () => {
    tell('restarting');
    tell('idle');
    await settle();
    [0, 1].forEach(schedule);
    [0, 1].forEach(at => end(at));
    await settle();
    expect(below(1)).toContain('2 cells ran together:');
  });
});

describe('the switch', () => {
  it('forgets cells that were running when it was switched off', async () => {
    [0, 1].forEach(schedule);
    press();
    [0, 1].forEach(at => end(at));
    press();
    await settle();
    schedule(2);
    end(2);
    await settle();
    expect(below(2)).toContain('10 → 5 rows');
    expect(lastQuestion()?.together).toEqual([]);
  });
});

describe('the note about cells that depend on another', () => {
  it('leaves out those that ran after it in the same run', async () => {
    stale = ['c1', 'c2'];
    [0, 1].forEach(schedule);
    [0, 1].forEach(at => end(at));
    await settle();
    expect(below(0)).toContain('1 cell depends on this:');
  });
});
