/**
 * One change of the document that Lab has open, in one cell or in our metadata: whole, or refused.
 */

import type { INotebookModel } from '@jupyterlab/notebook';
import type { PartialJSONValue } from '@lumino/coreutils';

import type { CellChange } from './cellChanges';

export type SharedNotebook = INotebookModel['sharedModel'];
export type SharedCell = SharedNotebook['cells'][number];
export type CodeCell = Extract<SharedCell, { getOutputs: unknown }>;
/** A notebook as it is saved. */
export type Content = Parameters<SharedNotebook['fromJSON']>[0];
/** A cell as it is saved. */
export type SavedCell = Parameters<SharedNotebook['insertCell']>[1];
type Metadata = Readonly<Record<string, PartialJSONValue>>;
type CellType = 'code' | 'markdown' | 'raw';

export interface Edit {
  kind: 'insert' | 'edit' | 'move' | 'delete' | 'outputs' | 'metadata';
  cell_id: string;
  after: string | null;
  expected: string | null;
  source: string;
  cell_type: CellType;
  /** Shown in place of what the cell shows; it is not run for that. */
  outputs?: ReturnType<CodeCell['getOutputs']>;
  /** Keys of what we keep in the notebook's metadata; the others stay. */
  metadata?: Metadata;
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

/**
 * Carries out an edit. Gives the cell as it was with all that it showed, where a cell goes or
 * becomes another one.
 */
export function applyEdit(notebook: SharedNotebook, edit: Edit): SavedCell | null {
  if (edit.kind === 'metadata') {
    const kept = notebook.getMetadata('cowork') as Metadata | undefined;
    notebook.setMetadata('cowork', { ...kept, ...edit.metadata });
    return null;
  }
  if (edit.kind === 'insert') {
    const { cell_id: id, cell_type, source } = edit;
    const place = placeAfter(notebook, edit.after);
    asOneStep([notebook], () =>
      notebook.insertCell(place, { id, cell_type, source, metadata: {} })
    );
    return null;
  }
  const index = indexOf(notebook, edit.cell_id);
  const cell = notebook.cells[index]!;
  checkExpected(cell, edit.expected);
  if (edit.kind === 'outputs') {
    asCode(cell)?.setOutputs(edit.outputs ?? []);
    return null;
  }
  if (edit.kind === 'move') {
    moveTo(notebook, index, placeAfter(notebook, edit.after));
    return null;
  }
  if (edit.kind === 'edit' && edit.cell_type === cell.cell_type) {
    asOneStep([cell, notebook], () => spliceSource(cell, edit.source));
    return null;
  }
  const before = { ...cell.toJSON(), id: cell.id } as SavedCell;
  if (edit.kind === 'edit') {
    replaceCell(notebook, cell.id, {
      cell_type: edit.cell_type,
      source: edit.source,
      metadata: cell.metadata
    });
  } else {
    asOneStep([notebook], () => notebook.deleteCell(index));
  }
  return before;
}

/**
 * Takes a change back, and does nothing where that is not possible any more. `known` is the cell
 * with all it showed.
 */
export function takeBack(notebook: SharedNotebook, change: CellChange, known?: SavedCell): void {
  const { cell_id: id, before, above } = change;
  const index = notebook.cells.findIndex(one => one.id === id);
  const cell = notebook.cells[index];
  const place = above === null ? 0 : notebook.cells.findIndex(one => one.id === above) + 1;
  if (before === null) {
    removeCell(notebook, id);
  } else if (change.after === null) {
    if (cell === undefined) {
      asOneStep([notebook], () =>
        notebook.insertCell(place, known ?? { ...before, id, metadata: {} })
      );
    }
  } else if (cell !== undefined) {
    if (cell.cell_type === before.cell_type) {
      asOneStep([cell, notebook], () => spliceSource(cell, before.source));
    } else {
      replaceCell(notebook, id, known ?? { ...before, metadata: cell.metadata });
    }
    if (change.moved && (above === null || place > 0)) {
      moveTo(notebook, index, place);
    }
  }
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

function replaceCell(notebook: SharedNotebook, id: string, by: SavedCell): void {
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

/**
 * Only what differs is replaced, so that a cursor or selection elsewhere in the cell stays where it
 * is.
 */
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

/**
 * What the agent does is a step of its own to undo, and is not joined with what the user types just
 * before or after.
 */
export function asOneStep(holders: readonly object[], change: () => void): void {
  const managers = holders.map(
    holder => (holder as { undoManager?: { stopCapturing(): void } | null }).undoManager
  );
  managers.forEach(manager => manager?.stopCapturing());
  change();
  managers.forEach(manager => manager?.stopCapturing());
}

function checkExpected(cell: SharedCell, expected: string | null): void {
  if (expected !== null && cell.source !== expected) {
    throw new Refusal('stale_cell', {
      cell: { id: cell.id, cell_type: cell.cell_type, source: cell.source }
    });
  }
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
