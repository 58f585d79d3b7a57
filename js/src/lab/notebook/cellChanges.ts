/**
 * Changes of cells that wait for the user's decision, as the server keeps them, and how they stand
 * in a document.
 */

import type { SharedNotebook } from './edits';

export type Decision = 'accept' | 'revert';

interface CellText {
  cell_type: 'code' | 'markdown' | 'raw';
  source: string;
}

export interface CellChange {
  id: string;
  cell_id: string;
  /** Null if there was no such cell. */
  before: CellText | null;
  /** Null if it was deleted. */
  after: CellText | null;
  moved: boolean;
  /** The cell behind which it stood, for what was moved or deleted; null if it was the first. */
  above: string | null;
}

export interface Standing {
  change: CellChange;
  kind: 'added' | 'changed' | 'moved' | 'deleted';
  /** The cell at which it is shown. */
  at: string;
  /** What the cell holds now; of a deleted one nothing. */
  source: string;
  /** Whether the user has gone on writing in the cell. */
  isEdited: boolean;
}

/**
 * What of the changes this document shows. Not all do: the user may have undone one, a rollback may
 * have taken it back, and without real-time collaboration another tab may not have it yet.
 */
export function standing(changes: readonly CellChange[], notebook: SharedNotebook): Standing[] {
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
 * The cell behind which a deleted one goes back: the next that is still there, if its neighbour was
 * deleted, too.
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

function deleted(change: CellChange, at: string): Standing {
  return { change, kind: 'deleted', at, source: '', isEdited: false };
}

function above(notebook: SharedNotebook, id: string): string | null {
  return notebook.cells[notebook.cells.findIndex(cell => cell.id === id) - 1]?.id ?? null;
}
