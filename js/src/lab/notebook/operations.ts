/** Operations that the server can request on an open notebook. */

import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';

import type { CellChange } from './cellChanges';
import { applyEdit, asCode, Refusal, type Edit, type SharedCell } from './edits';
import { Marks, type CellServer } from './marks';
import { shortened } from './outputs';
import { replaceContent, type Replacement } from './replace';
import { hasRun, runCell, startKernel } from './running';
import type { Answer, Question } from './splitAnswer';
import { keepScrollPosition } from './scrollPosition';
import { hasUnsavedTyping } from './typed';

/** Saving may open a dialog; the agent does not wait for it. */
const SAVING_MS = 3000;
/** Maximum characters of the selection that are sent. */
const MAX_SELECTED = 4000;

type Operation = (
  panel: NotebookPanel,
  model: INotebookModel,
  question: Question,
  server: CellServer
) => Promise<object> | object;

const marks = new WeakMap<NotebookPanel, Marks>();

const OPERATIONS: Readonly<Record<string, Operation>> = {
  read: (panel, model) => stateOf(panel, model, () => true),

  /** Like `read`, but with the outputs of the active cell only. */
  glance: (panel, model) => {
    const { active } = whereIn(panel);
    return stateOf(panel, model, id => id === active);
  },

  outputs: (_panel, model, question) => {
    const { cell_id } = question as Question & { cell_id: string };
    const cell = model.sharedModel.cells.find(one => one.id === cell_id);
    if (cell === undefined) {
      throw new Refusal('no_such_cell', { cell_id });
    }
    return {
      outputs:
        asCode(cell)
          ?.getOutputs()
          .map(one => shortened(one, true)) ?? []
    };
  },

  change: async (panel, model, question, server) => {
    const { edit } = question as Question & { edit: Edit };
    refuseReadOnly(model);
    if (edit.kind === 'outputs') {
      await hasRun(panel, edit.cell_id); // or what it still tells would come on top
    }
    const isTyping = hasUnsavedTyping(model);
    keepScrollPosition(panel.content, () =>
      marksOf(panel, server).keep(edit.cell_id, applyEdit(model.sharedModel, edit))
    );
    return { unsaved: await isLeftUnsaved(panel, model, isTyping) };
  },

  /** Pushed by the server on every change: the pending cell changes. */
  marks: (panel, _model, question, server) => {
    marksOf(panel, server).show((question as Question & { changes: CellChange[] }).changes);
    return {};
  },

  run: async (panel, model, question) => {
    const { cell_id, expected } = question as Question & { cell_id: string; expected: string };
    refuseReadOnly(model);
    const isTyping = hasUnsavedTyping(model);
    const { request, done } = await runCell(panel, cell_id, expected);
    void done.then(() => isLeftUnsaved(panel, model, isTyping));
    return { request };
  },

  start_kernel: async panel => {
    await startKernel(panel);
    return {};
  },

  content: (_panel, model) => ({
    unsaved: model.dirty,
    content: model.dirty ? model.toJSON() : null
  }),

  replace: async (panel, model, question) => {
    refuseReadOnly(model);
    const isTyping = hasUnsavedTyping(model);
    keepScrollPosition(panel.content, () =>
      replaceContent(model.sharedModel, question as Question & Replacement)
    );
    return { unsaved: await isLeftUnsaved(panel, model, isTyping) };
  }
};

/** Failures are answers, too. */
export async function answerTo(
  question: Question,
  panel: NotebookPanel | undefined,
  server: CellServer
): Promise<Answer> {
  const operation = OPERATIONS[question.op];
  if (panel === undefined || operation === undefined) {
    return { ok: false, code: panel === undefined ? 'not_open' : 'unknown_op' };
  }
  try {
    await panel.context.ready;
    const { model } = panel.content;
    if (panel.isDisposed || model === null) {
      return { ok: false, code: 'not_open' };
    }
    return { ok: true, ...(await operation(panel, model, question, server)) };
  } catch (error) {
    if (error instanceof Refusal) {
      return { ok: false, code: error.code, ...error.facts };
    }
    return { ok: false, code: 'broken', message: String(error) };
  }
}

function stateOf(
  panel: NotebookPanel,
  model: INotebookModel,
  hasOutputs: (id: string) => boolean
): object {
  const { language_info: language, kernelspec } = model.metadata;
  return {
    unsaved: model.dirty,
    cowork: model.metadata['cowork'] ?? null,
    language: language?.name ?? kernelspec?.['language'] ?? '',
    cells: model.sharedModel.cells.map(cell => cellState(cell, hasOutputs(cell.id))),
    ...whereIn(panel)
  };
}

function cellState(cell: SharedCell, hasOutputs: boolean): object {
  const { id, cell_type, source } = cell;
  const code = asCode(cell);
  const outputs = hasOutputs ? (code?.getOutputs() ?? []) : [];
  const ran = code && {
    execution_count: code.execution_count,
    outputs: outputs.map(one => shortened(one))
  };
  return { id, cell_type, source, tags: cell.getMetadata('tags') ?? [], ...ran };
}

/** The active cell and the text selected in it. */
function whereIn(panel: NotebookPanel): { active: string | null; selected: string } {
  const cell = panel.content.activeCell;
  const editor = cell?.editor;
  if (!cell || !editor) {
    return { active: cell?.model.id ?? null, selected: '' }; // a cell that is far off has no editor
  }
  const { start, end } = editor.getSelection();
  const places = [editor.getOffsetAt(start), editor.getOffsetAt(end)].sort(
    (one, other) => one - other
  );
  return {
    active: cell.model.id,
    selected: cell.model.sharedModel.source.slice(...places).slice(0, MAX_SELECTED)
  };
}

function refuseReadOnly(model: INotebookModel): void {
  if (model.readOnly) {
    throw new Refusal('read_only');
  }
}

function marksOf(panel: NotebookPanel, server: CellServer): Marks {
  const known = marks.get(panel) ?? new Marks(panel, server);
  marks.set(panel, known);
  return known;
}

/**
 * Saves a notebook without unsaved edits, so that commands see the agent's change on disk and a
 * reload does not lose it. One that the user is editing is left to them.
 */
async function isLeftUnsaved(
  panel: NotebookPanel,
  model: INotebookModel,
  isTyping: boolean
): Promise<boolean> {
  if (model.collaborative) {
    return false; // the server saves shared documents by itself
  }
  if (!isTyping) {
    const waited = new Promise<void>(resolve => setTimeout(resolve, SAVING_MS));
    await Promise.race([saved(panel, model), waited]);
  }
  return !panel.isDisposed && hasUnsavedTyping(model);
}

async function saved(panel: NotebookPanel, model: INotebookModel): Promise<void> {
  let typed = false;
  const note = (): void => {
    typed = true;
  };
  try {
    const saving = panel.context.save();
    model.contentChanged.connect(note);
    await saving;
  } catch {
    // Lab has told the user.
  } finally {
    if (!panel.isDisposed) {
      model.contentChanged.disconnect(note);
      // Lab clears `dirty` after saving, also for what was typed meanwhile.
      model.dirty = model.dirty || typed;
    }
  }
}
