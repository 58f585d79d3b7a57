import type { INotebookTracker } from '@jupyterlab/notebook';
import { describe, expect, it, vi } from 'vitest';

type Listener = (sender: unknown, scheduled: unknown) => void;
const { connect } = vi.hoisted(() => ({ connect: vi.fn<(listener: Listener) => void>() }));
vi.mock('@jupyterlab/notebook', () => ({
  INotebookTracker: {},
  NotebookActions: { executionScheduled: { connect } }
}));

import { loadBeforeUse } from '../../../src/lab/notebook/magics';

/** What a kernel is sent before a cell with this source runs. */
function sentBefore(source: string, hasKernel = true): unknown[] {
  const requestExecute = vi.fn(() => ({ done: Promise.reject(new Error('Canceled')) }));
  const session = hasKernel ? { kernel: { requestExecute } } : null;
  const panel = { content: {}, sessionContext: { session } };
  loadBeforeUse({
    find: (is: (one: unknown) => boolean) => [panel].find(is)
  } as unknown as INotebookTracker);
  connect.mock.lastCall?.[0](
    {},
    { notebook: panel.content, cell: { model: { sharedModel: { source } } } }
  );
  return requestExecute.mock.calls;
}

describe('loading the magics before a cell uses them', () => {
  it.each([
    '%%plan\nClean',
    '\n%%act',
    '%%ask reviewer\nWhy?',
    '%cowork',
    'x = 1\n  %cowork audit',
    'y = %cowork models'
  ])('asks the kernel, which shows and counts nothing: %j', source => {
    const quietly = {
      silent: true,
      store_history: false,
      allow_stdin: false,
      stop_on_error: false
    };
    expect(sentBefore(source)).toEqual([[{ code: expect.stringContaining('exec('), ...quietly }]]);
  });

  it.each(['x = 1', '%%planet\nx', '%%time\n1', '# %%plan', ''])(
    'leaves other cells alone: %j',
    source => {
      expect(sentBefore(source)).toEqual([]);
    }
  );

  it('does nothing where no kernel runs', () => {
    expect(sentBefore('%%plan\nClean', false)).toEqual([]);
  });
});
