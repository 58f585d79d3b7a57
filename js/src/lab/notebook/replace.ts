/** Replaces an open document's content. The server sends the differences; everything else stays. */

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

/** A cell by its source: old documents have no ids. */
interface CellText {
  id?: string;
  cell_type: string;
  source: string;
}

/** Fields to set on an existing cell. */
interface CellPatch {
  id: string;
  source?: string;
  metadata?: SavedCell['metadata'] | null;
  outputs?: ReturnType<CodeCell['getOutputs']> | null;
  execution_count?: number | null;
}

/** A cell to insert, replacing one with the same id but another type. */
type NewCell = SavedCell & { id: string };

export interface Replacement {
  /** Precondition: refuse if the document differs; null if unknown. */
  expected: CellText[] | null;
  /** The whole content, if cells cannot be told apart. */
  content?: Content;
  cells?: (CellPatch | NewCell)[];
  metadata?: { set: Content['metadata']; delete: string[] };
}

/** One undo step for the whole notebook, because Yjs merges changes made at once. */
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
