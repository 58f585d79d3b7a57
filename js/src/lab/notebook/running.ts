/** Runs cells of an open notebook for the agent, visibly and in the user's kernel. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';

import type { Cell } from './cellCommands';
import { Refusal } from './edits';

/** The parts of Lab's code cells used here. */
type CodeCell = Cell & {
  model: { clearExecution(): void; executionCount: number | null; trusted: boolean };
  outputArea: { future: ReturnType<Kernel.IKernelConnection['requestExecute']> };
  outputHidden: boolean;
};

/** A page that was reloaded connects to its kernel again; the server waits a little longer. */
const CONNECTING_MS = 20_000;

const running = new WeakMap<Cell['model'], Promise<void>>();

export interface Running {
  /** Request id, by which the server recognises the kernel's messages. */
  request: string;
  done: Promise<void>;
}

/**
 * Like Shift-Enter, but without stdin, since nobody may be there, and without aborting the cells
 * the user has queued behind it if it fails.
 */
export async function runCell(
  panel: NotebookPanel,
  cellId: string,
  expected: string
): Promise<Running> {
  const kernel = await connectedKernel(panel);
  const cell = panel.content.widgets.find(one => one.model.id === cellId);
  if (cell === undefined) {
    throw new Refusal('no_such_cell', { cell_id: cellId });
  }
  const { type, sharedModel } = cell.model;
  if (type !== 'code' || sharedModel.source !== expected) {
    throw new Refusal('stale_cell', {
      cell: { id: cellId, cell_type: type, source: sharedModel.source }
    });
  }
  if (!kernel) {
    throw new Refusal('no_kernel');
  }
  const code = cell as CodeCell;
  code.model.clearExecution();
  code.model.trusted = true;
  code.outputHidden = false;
  code.setPrompt('*');
  const future = kernel.requestExecute(
    { code: expected, allow_stdin: false, stop_on_error: false },
    false,
    { cellId }
  );
  code.outputArea.future = future;
  const done = future.done.then(
    ({ content }) => {
      code.model.executionCount = content.execution_count ?? null;
    },
    () => code.setPrompt('') // the kernel went away, and with it the answer
  );
  running.set(cell.model, done);
  return { request: future.msg.header.msg_id, done };
}

/** Waits until all output of the agent's run is shown. */
export async function hasRun(panel: NotebookPanel, cellId: string): Promise<void> {
  const cell = panel.content.widgets.find(one => one.model.id === cellId);
  await (cell && running.get(cell.model));
}

/** Starts the notebook's kernel, unless the user has to choose one. */
export async function startKernel(panel: NotebookPanel): Promise<void> {
  if (!(await connectedKernel(panel)) && (await panel.sessionContext.startKernel())) {
    throw new Refusal('no_kernel');
  }
}

/** The notebook's kernel, also if the tab has only begun to connect to it. */
async function connectedKernel({
  sessionContext
}: NotebookPanel): Promise<Kernel.IKernelConnection | null | undefined> {
  if (!sessionContext.session?.kernel && !sessionContext.isReady) {
    const waited = new Promise<void>(resolve => setTimeout(resolve, CONNECTING_MS));
    await Promise.race([sessionContext.ready, waited]);
  }
  return sessionContext.session?.kernel;
}
