/** Pending cell changes as the server stores them, and their position in a document. */

import type { SharedNotebook } from './edits';

export type Decision = 'accept' | 'revert';

interface CellText {
  cell_type: 'code' | 'markdown' | 'raw';
  source: string;
}

export interface CellChange {
  id: string;
  cell_id: string;
  /** Null if the cell is new. */
  before: CellText | null;
  /** Null if the cell was deleted. */
  after: CellText | null;
  moved: boolean;
  /** The cell above, for moved or deleted cells; null if it was the first. */
  above: string | null;
}

export interface PlacedChange {
  change: CellChange;
  kind: 'added' | 'changed' | 'moved' | 'deleted';
  /** The cell at which the change is shown. */
  at: string;
  /** The cell's current source; empty if deleted. */
  source: string;
  /** Whether the user has edited the cell since. */
  isEdited: boolean;
}

/**
 * The changes that this document contains. Some may be missing: undone by the user, rolled back, or
 * not yet received from another tab without real-time collaboration.
 */
export function standing(changes: readonly CellChange[], notebook: SharedNotebook): PlacedChange[] {
  const found = changes.map(change => {
    const cell = notebook.cells.find(one => one.id === change.cell_id);
    if (change.after === null) {
      const at = cellAbove(changes, notebook, change) ?? notebook.cells[0]?.id;
      return cell === undefined && at !== undefined ? deleted(change, at) : null;
    }
    if (cell === undefined) {
      return null;
    }
    const isAt = (text: CellText): boolean =>
      cell.source === text.source && cell.cell_type === text.cell_type;
    const isEdited = !isAt(change.after);
    const shown = { change, at: change.cell_id, source: cell.source, isEdited };
    if (change.before === null) {
      return { ...shown, kind: 'added' as const };
    }
    if (!isAt(change.before)) {
      return { ...shown, kind: 'changed' as const };
    }
    const isMoved = change.moved && above(notebook, change.cell_id) !== change.above;
    return isMoved ? { ...shown, kind: 'moved' as const, isEdited: false } : null;
  });
  return found.filter(one => one !== null);
}

/**
 * The cell below which a deleted one is restored: the nearest remaining one, if its neighbour was
 * deleted too.
 */
export function cellAbove(
  changes: readonly CellChange[],
  notebook: SharedNotebook,
  { above: id }: CellChange
): string | null {
  const seen = new Set<string>();
  while (id !== null && !seen.has(id) && !notebook.cells.some(cell => cell.id === id)) {
    seen.add(id);
    id = changes.find(one => one.cell_id === id && one.after === null)?.above ?? null;
  }
  return id;
}

function deleted(change: CellChange, at: string): PlacedChange {
  return { change, kind: 'deleted', at, source: '', isEdited: false };
}

function above(notebook: SharedNotebook, id: string): string | null {
  return notebook.cells[notebook.cells.findIndex(cell => cell.id === id) - 1]?.id ?? null;
}
