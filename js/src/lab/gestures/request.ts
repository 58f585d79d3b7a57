/** What is sent with a gesture: the cell, how it failed, and the notebook around it. */

import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';

import { asCode } from '../notebook/edits';
import type { Cell, CellError, NearbyCell, SuggestionKind, SuggestionRequest } from './types';

/** The server takes no more; the cells that stand nearest count most. */
const MAX_CELLS = 200;
/** Characters of a cell that stands around; what is longer is data rather than code. */
const MAX_SOURCE = 20_000;
const PRIVATE = 'private';
const OURS = /^\s*%%(?:plan|act|ask)\b|^\s*%cowork\b/;
// eslint-disable-next-line no-control-regex -- the codes of terminals begin with one
const TERMINAL_CODES = /\u001b\[[0-9;?]*[A-Za-z]/g;

type CellModel = Cell['model'];

/** Cells with this tag are not sent anywhere. */
export function isPrivate({ metadata }: { metadata: object }): boolean {
  const { tags } = metadata as { tags?: unknown };
  return Array.isArray(tags) && tags.includes(PRIVATE);
}

/** Cells whose output is a card of ours, which says itself how it failed. */
export function isOurs(source: string): boolean {
  return OURS.test(source);
}

/** What a code cell shows, as Lab has it: the document's own would be copied whole. */
interface Outputs {
  length: number;
  get(index: number): { type: string; toJSON(): object };
}

export function outputsOf(model: CellModel): Outputs | null {
  return (model as CellModel & { outputs?: Outputs }).outputs ?? null;
}

/** How a cell failed; null if it did not, or if the user themself has stopped it. */
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
