/** Gives an open document another content by as few changes as will do, so that what stays the same stays in place. */

import { asCode, asOneStep, isSame, spliceSource, type Content, type SharedCell, type SharedNotebook } from './edits';
import { asText } from './outputs';

type SavedCell = Content['cells'][number];

/**
 * One step to undo for the whole notebook, as Yjs joins changes that follow each other at once. A cell whose text is the
 * same keeps what it shows: that may have changed since the content was put together, as cards save themselves.
 */
export function reconcile(notebook: SharedNotebook, content: Content): void {
  asOneStep([notebook], () => {
    if (content.cells.some(cell => typeof cell['id'] !== 'string')) {
      notebook.fromJSON(content);
      return;
    }
    removeOthers(notebook, content.cells);
    content.cells.forEach((cell, index) => putAt(notebook, cell, index));
    notebook.transact(() => {
      content.cells.forEach((cell, index) => update(notebook.cells[index]!, cell));
      if (!isSame(notebook.metadata, content.metadata)) {
        notebook.setMetadata(content.metadata);
      }
    });
  });
  notebook.dirty = true;
}

function removeOthers(notebook: SharedNotebook, cells: readonly SavedCell[]): void {
  const types = new Map(cells.map(cell => [cell['id'], cell.cell_type]));
  for (let index = notebook.cells.length - 1; index >= 0; index--) {
    const { id, cell_type } = notebook.cells[index]!;
    if (types.get(id) !== cell_type) {
      notebook.deleteCell(index);
    }
  }
}

function putAt(notebook: SharedNotebook, cell: SavedCell, index: number): void {
  const at = notebook.cells.findIndex(one => one.id === cell['id']);
  if (at < 0) {
    notebook.insertCell(index, cell as Parameters<SharedNotebook['insertCell']>[1]);
  } else if (at !== index) {
    notebook.moveCell(at, index);
  }
}

function update(cell: SharedCell, to: SavedCell): void {
  const source = asText(to.source);
  if (cell.source === source) {
    return;
  }
  spliceSource(cell, source);
  if (!isSame(cell.metadata, to.metadata)) {
    cell.setMetadata(to.metadata);
  }
  const code = asCode(cell);
  if (code !== null) {
    const outputs = (to['outputs'] ?? []) as ReturnType<typeof code.getOutputs>;
    if (!isSame(code.getOutputs(), outputs)) {
      code.setOutputs(outputs);
    }
    code.execution_count = (to['execution_count'] ?? null) as number | null;
  }
}
