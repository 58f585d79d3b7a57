/**
 * Gives an open document another content. The server says what differs; what it does not name stays
 * as it is here.
 */

import {
  asCode,
  asOneStep,
  Refusal,
  spliceSource,
  type CodeCell,
  type Content,
  type SharedCell,
  type SharedNotebook
} from './edits';

type SavedCell = Content['cells'][number];

/** A cell by its text; old documents have no ids. */
interface CellText {
  id?: string;
  cell_type: string;
  source: string;
}

/** A cell that is there, with the fields that it gets. */
interface CellPatch {
  id: string;
  source?: string;
  metadata?: SavedCell['metadata'] | null;
  outputs?: ReturnType<CodeCell['getOutputs']> | null;
  execution_count?: number | null;
}

/** A cell to insert, in the place of one of another type if there is one with its id. */
type NewCell = SavedCell & { id: string };

export interface Replacement {
  /** What the document must hold, or else it is left as it is; null where nobody knows. */
  expected: CellText[] | null;
  /** All that it gets, where cells cannot be told apart. */
  content?: Content;
  cells?: (CellPatch | NewCell)[];
  metadata?: { set: Content['metadata']; delete: string[] };
}

/** One step to undo for the whole notebook, as Yjs joins changes that follow each other at once. */
export function replaceContent(
  notebook: SharedNotebook,
  { expected, content, cells = [], metadata }: Replacement
): void {
  if (expected !== null && !isAsExpected(notebook, expected)) {
    const texts = notebook.cells.map(({ id, cell_type, source }) => ({ id, cell_type, source }));
    throw new Refusal('document_changed', { texts });
  }
  asOneStep([notebook], () => {
    if (content !== undefined) {
      notebook.fromJSON(content);
      return;
    }
    removeOthers(notebook, cells);
    cells.forEach((cell, index) => putAt(notebook, cell, index));
    notebook.transact(() => {
      cells.forEach((cell, index) => isNew(cell) || update(notebook.cells[index]!, cell));
      Object.entries(metadata?.set ?? {}).forEach(([key, value]) =>
        notebook.setMetadata(key, value as never)
      );
      metadata?.delete.forEach(key => notebook.deleteMetadata(key));
    });
  });
  notebook.dirty = true;
}

function isAsExpected({ cells }: SharedNotebook, expected: readonly CellText[]): boolean {
  const isSameCell = (text: CellText, cell: SharedCell): boolean =>
    cell.cell_type === text.cell_type &&
    cell.source === text.source &&
    (text.id === undefined || cell.id === text.id);
  return (
    cells.length === expected.length &&
    expected.every((text, index) => isSameCell(text, cells[index]!))
  );
}

function isNew(cell: CellPatch | NewCell): cell is NewCell {
  return 'cell_type' in cell;
}

function removeOthers(notebook: SharedNotebook, cells: readonly (CellPatch | NewCell)[]): void {
  const staying = new Set(cells.filter(cell => !isNew(cell)).map(({ id }) => id));
  for (let index = notebook.cells.length - 1; index >= 0; index--) {
    if (!staying.has(notebook.cells[index]!.id)) {
      notebook.deleteCell(index);
    }
  }
}

function putAt(notebook: SharedNotebook, cell: CellPatch | NewCell, index: number): void {
  if (isNew(cell)) {
    notebook.insertCell(index, cell as Parameters<SharedNotebook['insertCell']>[1]);
    return;
  }
  const at = notebook.cells.findIndex(({ id }) => id === cell.id);
  if (at !== index) {
    notebook.moveCell(at, index);
  }
}

function update(cell: SharedCell, to: CellPatch): void {
  const code = asCode(cell);
  if (to.source !== undefined) {
    spliceSource(cell, to.source);
  }
  if (to.metadata !== undefined) {
    cell.setMetadata(to.metadata ?? {});
  }
  if (code !== null && to.outputs !== undefined) {
    code.setOutputs(to.outputs ?? []);
  }
  if (code !== null && to.execution_count !== undefined) {
    code.execution_count = to.execution_count;
  }
}
