import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { describe, expect, it, vi } from 'vitest';

import {
  insertBelow as insertCodeBelow,
  insertBelowActive,
  insertMagicCell,
  notebookForCell
} from '../../../src/lab/notebook/insertCell';

const { insertBelow, changeCellType } = vi.hoisted(() => ({
  insertBelow: vi.fn(),
  changeCellType: vi.fn()
}));
// The real package needs a whole Lab around it.
vi.mock('@jupyterlab/notebook', () => ({ NotebookActions: { insertBelow, changeCellType } }));

function notebookWith(cellType: string): {
  panel: NotebookPanel;
  steps: string[];
  content: { mode: string };
} {
  const steps: string[] = [];
  let mode = 'command';
  const content = {
    model: { readOnly: false },
    activeCell: {
      model: {
        type: cellType,
        sharedModel: { setSource: (text: string) => steps.push(`source ${JSON.stringify(text)}`) }
      },
      ready: Promise.resolve(),
      editor: {
        focus: () => steps.push('focus'),
        setCursorPosition: ({ line, column }: { line: number; column: number }) =>
          steps.push(`cursor ${line}:${column}`)
      }
    },
    get mode() {
      return mode;
    },
    set mode(next: string) {
      mode = next;
      steps.push(`mode ${next}`);
    }
  };
  return { panel: { content } as unknown as NotebookPanel, steps, content };
}

function trackerOn(panel: unknown): INotebookTracker {
  return { currentWidget: panel } as INotebookTracker;
}

describe('notebookForCell', () => {
  it('is the current notebook', () => {
    const { panel } = notebookWith('code');
    expect(notebookForCell(trackerOn(panel))).toBe(panel);
  });
  it.each([
    ['there is no tracker', null],
    ['no notebook is open', trackerOn(null)],
    ['the notebook is still loading', trackerOn({ content: { model: null } })],
    ['the notebook is read-only', trackerOn({ content: { model: { readOnly: true } } })]
  ])('is none when %s', (_case, tracker) => {
    expect(notebookForCell(tracker)).toBeNull();
  });
});

describe('insertMagicCell', () => {
  it('leaves the cursor under the magic, in edit mode, after the notebook has been activated', async () => {
    const { panel, steps, content } = notebookWith('code');
    await insertMagicCell(panel, '%%plan', () => {
      // As Lab does: activation arrives late, and ends edit mode.
      queueMicrotask(() => {
        content.mode = 'command';
      });
    });
    expect(insertBelow).toHaveBeenCalledWith(panel.content);
    expect(steps).toEqual([
      'source "%%plan\\n"',
      'mode command',
      'mode edit',
      'focus',
      'cursor 1:0'
    ]);
  });

  it('makes it a code cell for those whose new cells are Markdown', async () => {
    const { panel } = notebookWith('markdown');
    await insertMagicCell(panel, '%%act', () => undefined);
    expect(changeCellType).toHaveBeenCalledWith(panel.content, 'code');
  });
});

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
    await insertCodeBelow(tracker, card)?.('x = 1');
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
    expect(insertCodeBelow(tracker, card)).toBeUndefined();
    expect(insertBelowActive(tracker)).toBeUndefined();
    expect(insertCodeBelow(tracker, document.createElement('div'))).toBeUndefined();
    expect(insertBelowActive(null)).toBeUndefined();
  });
});
