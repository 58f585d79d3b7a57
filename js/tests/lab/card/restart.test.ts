import type { ISessionContext } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { describe, expect, it, vi } from 'vitest';

const { runCells } = vi.hoisted(() => ({ runCells: vi.fn() }));
vi.mock('@jupyterlab/notebook', () => ({ NotebookActions: { runCells } }));

import { restartAt } from '../../../src/lab/card/restart';

/** A notebook of three cells, with the card in the last of them unless told. */
function notebookWithCardIn(index: number, agrees = true) {
  const card = document.createElement('div');
  const node = document.createElement('div');
  const widgets = [0, 1, 2].map(() => ({ node: document.createElement('div') }));
  node.append(...widgets.map(cell => cell.node));
  widgets[index]?.node.append(card);
  const panel = { node, content: { widgets }, sessionContext: {} } as unknown as NotebookPanel;
  const restart = vi.fn(() => Promise.resolve(agrees));
  const tracker = {
    find: (is: (one: NotebookPanel) => boolean) => [panel].find(is)
  } as INotebookTracker;
  const offered = restartAt(tracker, { restart } as unknown as ISessionContext.IDialogs)(card);
  return { offered, panel, restart, widgets };
}

describe('restarting the kernel and running up to a card', () => {
  it('runs what stands above the card, and not the cell of the card', async () => {
    const { offered, panel, restart, widgets } = notebookWithCardIn(2);
    await offered?.();
    expect(restart).toHaveBeenCalledWith(panel.sessionContext);
    expect(runCells.mock.lastCall?.slice(0, 2)).toEqual([panel.content, widgets.slice(0, 2)]);
  });

  it('runs nothing when there is nothing above, or the user does not want it', async () => {
    runCells.mockClear();
    await notebookWithCardIn(0).offered?.();
    await notebookWithCardIn(2, false).offered?.();
    expect(runCells).not.toHaveBeenCalled();
  });

  it('is not offered outside of a notebook', () => {
    expect(notebookWithCardIn(-1).offered).toBeUndefined();
  });
});
