/**
 * Atomic edits of an open document: one cell, or our metadata. An edit is applied completely or
 * refused.
 */

import type { INotebookModel } from '@jupyterlab/notebook';
import type { PartialJSONValue } from '@lumino/coreutils';

import type { CellChange } from './cellChanges';

export type SharedNotebook = INotebookModel['sharedModel'];
export type SharedCell = SharedNotebook['cells'][number];
export type CodeCell = Extract<SharedCell, { getOutputs: unknown }>;
/** nbformat content. */
export type Content = Parameters<SharedNotebook['fromJSON']>[0];
/** nbformat cell. */
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
  /** Replaces the outputs without running the cell. */
  outputs?: ReturnType<CodeCell['getOutputs']>;
  /** Keys of our notebook metadata; other keys stay. */
  metadata?: Metadata;
}

/** Nothing was changed. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    readonly facts: Readonly<Record<string, unknown>> = {}
  ) {
    super(code);
  }
}

/** Returns the previous cell with its outputs, if it is deleted or changes type. */
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

/** Reverts a change if still possible. `known` is the cell with its outputs. */
export function revertChange(
  notebook: SharedNotebook,
  change: CellChange,
  known?: SavedCell
): void {
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

/** `place` counts with the cell still in its old place. */
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

/** Replaces only the differing part, so that a cursor or selection elsewhere stays. */
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

/** Makes the agent's change a separate undo step, not merged with the user's typing. */
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
