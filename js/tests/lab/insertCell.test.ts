import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { describe, expect, it, vi } from 'vitest';

vi.mock('@jupyterlab/notebook', () => ({ NotebookActions: {} }));

import { insertBelow, insertBelowActive } from '../../src/lab/insertCell';

/** A notebook of three cells, the last active, with a card in one of them. */
function notebookWithCardIn(index: number, readOnly = false) {
  const [card, node] = [document.createElement('div'), document.createElement('div')];
  const widgets = [0, 1, 2].map(() => ({ node: document.createElement('div') }));
  node.append(...widgets.map(cell => cell.node));
  widgets[index]?.node.append(card);
  const insertCell = vi.fn();
  const model = { readOnly, sharedModel: { insertCell } };
  const content = {
    widgets,
    model,
    activeCellIndex: 2,
    deselectAll: vi.fn(),
    activate: vi.fn(),
    scrollToItem: vi.fn(async () => undefined)
  };
  const panel = { node, content } as unknown as NotebookPanel;
  const tracker = {
    currentWidget: panel,
    find: (is: (one: NotebookPanel) => boolean) => [panel].find(is)
  } as unknown as INotebookTracker;
  return { card, content, insertCell, tracker };
}

const CELL = { cell_type: 'code', source: 'x = 1', metadata: { trusted: true } };

describe('making a cell of code in an answer', () => {
  it('puts it below the cell of the card, wherever the user is', async () => {
    const { card, content, insertCell, tracker } = notebookWithCardIn(0);
    await insertBelow(tracker, card)?.('x = 1');
    expect(insertCell).toHaveBeenCalledWith(1, CELL);
    expect(content.activeCellIndex).toBe(1);
    expect(content.activate).toHaveBeenCalledAfter(content.scrollToItem);
  });

  it('puts it below the active cell, from the panel', async () => {
    const { insertCell, tracker } = notebookWithCardIn(0);
    await insertBelowActive(tracker)?.('x = 1');
    expect(insertCell).toHaveBeenCalledWith(3, CELL);
  });

  it('is not offered where nothing may be changed, or no notebook is', () => {
    const { card, tracker } = notebookWithCardIn(0, true);
    expect(insertBelow(tracker, card)).toBeUndefined();
    expect(insertBelowActive(tracker)).toBeUndefined();
    expect(insertBelow(tracker, document.createElement('div'))).toBeUndefined();
    expect(insertBelowActive(null)).toBeUndefined();
  });
});
