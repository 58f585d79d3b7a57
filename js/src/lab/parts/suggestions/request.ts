/** Builds a gesture's request: the cell, its error, and the notebook around it. */

import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';

import { asCode } from '../../notebook/edits';
import type { Cell } from '../../notebook/cellCommands';
import type { CellError, NearbyCell, SuggestionKind, SuggestionRequest } from './types';

/** Server limit; the nearest cells are kept. */
const MAX_CELLS = 200;
/** Characters per surrounding cell; longer ones are data rather than code. */
const MAX_SOURCE = 20_000;
const PRIVATE = 'private';
const OURS = /^\s*%%(?:plan|act|ask)\b|^\s*%cowork\b/;
// eslint-disable-next-line no-control-regex -- the codes of terminals begin with one
const TERMINAL_CODES = /\u001b\[[0-9;?]*[A-Za-z]/g;

type CellModel = Cell['model'];

/** Cells with this tag are never sent. */
export function isPrivate({ metadata }: { metadata: object }): boolean {
  const { tags } = metadata as { tags?: unknown };
  return Array.isArray(tags) && tags.includes(PRIVATE);
}

/** Cells with our magics: their cards report failures themselves. */
export function isOurs(source: string): boolean {
  return OURS.test(source);
}

/** Lab's output model; reading it from the document would copy everything. */
interface Outputs {
  length: number;
  get(index: number): { type: string; toJSON(): object };
}

export function outputsOf(model: CellModel): Outputs | null {
  return (model as CellModel & { outputs?: Outputs }).outputs ?? null;
}

/** Null if the cell did not fail, or was interrupted by the user. */
export function errorOf(model: CellModel): CellError | null {
  const outputs = outputsOf(model);
  const at = Array.from({ length: outputs?.length ?? 0 }, (_, index) => index).find(
    index => outputs!.get(index).type === 'error'
  );
  if (at === undefined) {
    return null;
  }
  const error = outputs!.get(at).toJSON() as {
    ename?: string;
    evalue?: string;
    traceback?: string[];
  };
  if (error.ename === 'KeyboardInterrupt') {
    return null;
  }
  return {
    name: error.ename ?? '',
    value: error.evalue ?? '',
    traceback: (error.traceback ?? []).join('\n').replace(TERMINAL_CODES, '')
  };
}

export function requestFor(
  { content }: NotebookPanel,
  { id, sharedModel }: CellModel,
  kind: SuggestionKind,
  more: Partial<SuggestionRequest> = {}
): SuggestionRequest {
  const cells = content.model === null ? [] : nearby(content.model, id);
  return { kind, cell_id: id, source: sharedModel.source, ...more, cells };
}

function nearby({ sharedModel: { cells } }: INotebookModel, id: string): NearbyCell[] {
  const here = cells.findIndex(cell => cell.id === id);
  const first = Math.max(0, Math.min(here - MAX_CELLS / 2, cells.length - MAX_CELLS));
  return cells
    .slice(first, first + MAX_CELLS)
    .filter(cell => !isPrivate(cell) && (cell.id === id || cell.source.length <= MAX_SOURCE))
    .map(cell => ({
      id: cell.id,
      cell_type: cell.cell_type as NearbyCell['cell_type'],
      source: cell.source,
      has_run: (asCode(cell)?.execution_count ?? null) !== null
    }));
}
