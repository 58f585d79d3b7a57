import type { NotebookPanel } from '@jupyterlab/notebook';
import { beforeEach, describe, expect, it, vi } from 'vitest';

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

import { PersonRuns } from '../../../src/lab/notebook/personRuns';

const notebook = {};
const status = vi.fn<(listener: Listener) => void>();
const panel = {
  content: notebook,
  context: { localPath: 'a.ipynb' },
  sessionContext: { statusChanged: { connect: status } }
} as unknown as NotebookPanel;
const send = vi.fn();

function cell(source: string): { model: object } {
  return { model: { id: 'c1', sharedModel: { source } } };
}

function run(source: string, where: object = notebook): { model: object } {
  const one = cell(source);
  signals.scheduled.mock.lastCall?.[0]({}, { notebook: where, cell: one });
  return one;
}

beforeEach(() => {
  send.mockClear();
  new PersonRuns(send, () => [panel]).follow(panel);
});

describe('a cell that a person runs', () => {
  it.each(['%%act', '\n%%plan\nClean', '%%ask\nWhy?', 'x = 1\n%cowork execute', 'cw.execute()'])(
    'is told to the server: %j',
    source => {
      run(source);
      expect(send.mock.calls).toEqual([
        [{ type: 'cell-started', path: 'a.ipynb', cell_id: 'c1', source }]
      ]);
    }
  );

  it.each(['x = 1', '%%actor', 'cursor.execute("select 1")'])(
    'is nobody’s business if it asks us nothing: %j',
    source => {
      signals.executed.mock.lastCall?.[0]({}, { notebook, cell: run(source) });
      expect(send).not.toHaveBeenCalled();
    }
  );

  it('is not told of a notebook that is not on the server, or is too long to be sent', () => {
    run('%%act', {});
    run(`%%act\n${'x'.repeat(1_000_000)}`);
    expect(send).not.toHaveBeenCalled();
  });

  it('has ended when Lab says so', () => {
    const ran = run('%%act');
    send.mockClear();
    signals.executed.mock.lastCall?.[0]({}, { notebook, cell: ran });
    signals.executed.mock.lastCall?.[0]({}, { notebook, cell: ran });
    expect(send.mock.calls).toEqual([[{ type: 'cell-ended', path: 'a.ipynb', cell_id: 'c1' }]]);
  });

  it('has ended with its kernel', () => {
    run('%%act');
    send.mockClear();
    status.mock.lastCall?.[0]({}, 'busy');
    status.mock.lastCall?.[0]({}, 'restarting');
    expect(send.mock.calls).toEqual([[{ type: 'cell-ended', path: 'a.ipynb' }]]);
  });
});
