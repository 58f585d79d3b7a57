import type { NotebookPanel } from '@jupyterlab/notebook';
import { act } from 'preact/test-utils';
import { beforeEach, describe, expect, it, vi } from 'vitest';

const runCells = vi.hoisted(() => vi.fn());
vi.mock('@jupyterlab/notebook', () => ({ NotebookActions: { runCells } }));

import { StaleNote } from '../../../src/lab/notebook/StaleCells';
import { button, click, draw } from '../../screen';

type Listener = (model: object, change: object) => void;

const STALE = ['c1', 'c2'].map((cell_id, at) => ({
  cell_id,
  cell: at + 2,
  name: 'orders',
  changed_id: 'c0'
}));

function newCell(id: string) {
  const listeners = new Set<Listener>();
  const stateChanged = {
    connect: (listener: Listener) => listeners.add(listener),
    disconnect: (listener: Listener) => listeners.delete(listener)
  };
  const model = { id, stateChanged };
  const ran = (): void =>
    void act(() => listeners.forEach(tell => tell(model, { name: 'executionCount', newValue: 7 })));
  return { model, ran };
}

let cells: ReturnType<typeof newCell>[];
let note: HTMLElement;

beforeEach(() => {
  cells = ['c0', 'c1', 'c2'].map(newCell);
  const panel = { content: { widgets: cells } } as unknown as NotebookPanel;
  note = draw(<StaleNote panel={panel} stale={STALE} changed="c0" />);
});

describe('the note about cells that depend on another', () => {
  it('counts those that have not run since, and runs only them', async () => {
    expect(note.textContent).toContain('2 cells depend on this:');
    cells[1]?.ran();
    expect(note.textContent).toContain('1 cell depends on this:');
    await click(button(note, 'Run them'));
    expect(runCells.mock.lastCall?.[1]).toEqual([cells[0], cells[2]]);
    cells[2]?.ran();
    expect(note.textContent).toBe('');
  });

  it('counts all again when the changed cell runs', () => {
    cells[1]?.ran();
    expect(note.textContent).toContain('1 cell depends on this:');
    cells[0]?.ran();
    expect(note.textContent).toContain('2 cells depend on this:');
  });
});
