/** One change of one cell, made on the document that Lab has open: whole, or refused. */

import type { INotebookModel } from '@jupyterlab/notebook';

export type SharedNotebook = INotebookModel['sharedModel'];
export type SharedCell = SharedNotebook['cells'][number];
export type CodeCell = Extract<SharedCell, { getOutputs: unknown }>;
/** A notebook as it is saved. */
export type Content = Parameters<SharedNotebook['fromJSON']>[0];
type CellType = 'code' | 'markdown' | 'raw';

export interface Edit {
  kind: 'insert' | 'edit' | 'move' | 'delete';
  cell_id: string;
  after: string | null;
  expected: string | null;
  source: string;
  cell_type: CellType;
}

/** Why it was not done; nothing was changed. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    readonly facts: Readonly<Record<string, unknown>> = {}
  ) {
    super(code);
  }
}

/** Carries out an edit. What it gives back takes it back, and does nothing where that is not possible any more. */
export function applyEdit(notebook: SharedNotebook, edit: Edit): () => void {
  if (edit.kind === 'insert') {
    const { cell_id: id, cell_type, source } = edit;
    const place = placeAfter(notebook, edit.after);
    asOneStep([notebook], () => notebook.insertCell(place, { id, cell_type, source, metadata: {} }));
    return () => removeCell(notebook, id);
  }
  const cell = notebook.cells[indexOf(notebook, edit.cell_id)]!;
  checkExpected(cell, edit.expected);
  switch (edit.kind) {
    case 'edit':
      return changeCell(notebook, cell, edit);
    case 'delete':
      return deleteCell(notebook, cell);
    case 'move':
      return moveCell(notebook, cell, edit.after);
  }
}

function changeCell(notebook: SharedNotebook, cell: SharedCell, edit: Edit): () => void {
  const { id, source, cell_type: type } = cell;
  if (type === edit.cell_type) {
    asOneStep([cell, notebook], () => spliceSource(cell, edit.source));
    return () => {
      const now = find(notebook, id);
      if (now !== undefined) {
        asOneStep([now, notebook], () => spliceSource(now, source));
      }
    };
  }
  const before = cell.toJSON();
  replaceCell(notebook, id, { id, cell_type: edit.cell_type, source: edit.source, metadata: before.metadata });
  return () => replaceCell(notebook, id, before);
}

function deleteCell(notebook: SharedNotebook, cell: SharedCell): () => void {
  const index = notebook.cells.indexOf(cell);
  const above = notebook.cells[index - 1]?.id ?? null;
  const before = { ...cell.toJSON(), id: cell.id };
  asOneStep([notebook], () => notebook.deleteCell(index));
  return () => {
    const place = above === null ? 0 : notebook.cells.findIndex(one => one.id === above) + 1;
    asOneStep([notebook], () => notebook.insertCell(place, before));
  };
}

function moveCell(notebook: SharedNotebook, cell: SharedCell, after: string | null): () => void {
  const { id } = cell;
  const from = notebook.cells.indexOf(cell);
  const above = notebook.cells[from - 1]?.id ?? null;
  const to = placeAfter(notebook, after);
  moveTo(notebook, from, to);
  return () => {
    const now = notebook.cells.findIndex(one => one.id === id);
    const back = above === null ? 0 : notebook.cells.findIndex(one => one.id === above) + 1;
    if (now >= 0 && (above === null || back > 0)) {
      moveTo(notebook, now, back);
    }
  };
}

/** `place` counts with the cell where it still is. */
function moveTo(notebook: SharedNotebook, from: number, place: number): void {
  const to = place > from ? place - 1 : place;
  if (to !== from) {
    asOneStep([notebook], () => notebook.moveCell(from, to));
  }
}

function removeCell(notebook: SharedNotebook, id: string): void {
  const index = notebook.cells.findIndex(one => one.id === id);
  if (index >= 0) {
    asOneStep([notebook], () => notebook.deleteCell(index));
  }
}

function replaceCell(notebook: SharedNotebook, id: string, by: Parameters<SharedNotebook['insertCell']>[1]): void {
  const index = notebook.cells.findIndex(one => one.id === id);
  if (index >= 0) {
    asOneStep([notebook], () =>
      notebook.transact(() => {
        notebook.deleteCell(index);
        notebook.insertCell(index, { ...by, id });
      })
    );
  }
}

/** Only what differs is replaced, so that a cursor or selection elsewhere in the cell stays where it is. */
export function spliceSource(cell: SharedCell, source: string): void {
  const old = cell.source;
  if (old === source) {
    return;
  }
  const most = Math.min(old.length, source.length);
  let head = 0;
  while (head < most && old[head] === source[head]) {
    head++;
  }
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === source[source.length - 1 - tail]) {
    tail++;
  }
  cell.updateSource(head, old.length - tail, source.slice(head, source.length - tail));
}

/** What the agent does is a step of its own to undo, and is not joined with what the user types just before or after. */
export function asOneStep(holders: readonly object[], change: () => void): void {
  const managers = holders.map(holder => (holder as { undoManager?: { stopCapturing(): void } | null }).undoManager);
  managers.forEach(manager => manager?.stopCapturing());
  change();
  managers.forEach(manager => manager?.stopCapturing());
}

function checkExpected(cell: SharedCell, expected: string | null): void {
  if (expected !== null && cell.source !== expected) {
    throw new Refusal('stale_cell', { cell: { id: cell.id, cell_type: cell.cell_type, source: cell.source } });
  }
}

function find(notebook: SharedNotebook, id: string): SharedCell | undefined {
  return notebook.cells.find(one => one.id === id);
}

function indexOf(notebook: SharedNotebook, id: string): number {
  const index = notebook.cells.findIndex(cell => cell.id === id);
  if (index < 0) {
    throw new Refusal('no_such_cell', { cell_id: id });
  }
  return index;
}

function placeAfter(notebook: SharedNotebook, after: string | null): number {
  return after === null ? 0 : indexOf(notebook, after) + 1;
}

export function asCode(cell: SharedCell): CodeCell | null {
  return 'getOutputs' in cell ? cell : null;
}
