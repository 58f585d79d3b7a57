/** What the server can ask of a notebook that is open here. */

import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';

import { applyEdit, asCode, Refusal, type Content, type Edit, type SharedCell } from './edits';
import { Marks } from './marks';
import { shortened } from './outputs';
import { reconcile } from './reconcile';
import { runCell, startKernel } from './running';
import type { Answer, Question } from './socket';
import { keepSteady } from './steady';

/** Saving may ask the user something; the agent does not wait for that. */
const SAVING_MS = 3000;

type Operation = (panel: NotebookPanel, model: INotebookModel, question: Question) => Promise<object> | object;

const marks = new WeakMap<NotebookPanel, Marks>();

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  read: (_panel, model) => ({ ...stateOf(model) }),

  change: async (panel, model, question) => {
    const { edit } = question as Question & { edit: Edit };
    refuseReadOnly(model);
    const wasUnsaved = model.dirty;
    keepSteady(panel.content, () => marksOf(panel).around(edit, () => applyEdit(model.sharedModel, edit)));
    return { unsaved: await isLeftUnsaved(panel, model, wasUnsaved) };
  },

  run: (panel, model, question) => {
    const { cell_id, expected } = question as Question & { cell_id: string; expected: string };
    refuseReadOnly(model);
    const wasUnsaved = model.dirty;
    const { request, done } = runCell(panel, cell_id, expected);
    void done.then(() => isLeftUnsaved(panel, model, wasUnsaved));
    return { request };
  },

  start_kernel: async panel => {
    await startKernel(panel);
    return {};
  },

  content: (_panel, model) => ({ unsaved: model.dirty, content: model.dirty ? model.toJSON() : null }),

  replace: async (panel, model, question) => {
    const { content } = question as Question & { content: Content };
    refuseReadOnly(model);
    const wasUnsaved = model.dirty;
    keepSteady(panel.content, () => reconcile(model.sharedModel, content));
    return { unsaved: await isLeftUnsaved(panel, model, wasUnsaved) };
  }
};

/** Answers a question about a notebook; what goes wrong is an answer too. */
export async function answerTo(question: Question, panel: NotebookPanel | undefined): Promise<Answer> {
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
    return { ok: true, ...(await operation(panel, model, question)) };
  } catch (error) {
    if (error instanceof Refusal) {
      return { ok: false, code: error.code, ...error.facts };
    }
    return { ok: false, code: 'broken', message: String(error) };
  }
}

function stateOf(model: INotebookModel): object {
  const { language_info: language, kernelspec } = model.metadata;
  return {
    unsaved: model.dirty,
    language: language?.name ?? kernelspec?.['language'] ?? '',
    cells: model.sharedModel.cells.map(cellState)
  };
}

function cellState(cell: SharedCell): object {
  const { id, cell_type, source } = cell;
  const code = asCode(cell);
  const ran = code && { execution_count: code.execution_count, outputs: code.getOutputs().map(shortened) };
  return { id, cell_type, source, ...ran };
}

function refuseReadOnly(model: INotebookModel): void {
  if (model.readOnly) {
    throw new Refusal('read_only');
  }
}

function marksOf(panel: NotebookPanel): Marks {
  const known = marks.get(panel) ?? new Marks(panel);
  marks.set(panel, known);
  return known;
}

/**
 * A notebook without unsaved edits is saved again, so that commands see on the disk what the agent did. One that the
 * user is working on is left to them.
 */
async function isLeftUnsaved(panel: NotebookPanel, model: INotebookModel, wasUnsaved: boolean): Promise<boolean> {
  if (model.collaborative) {
    return false; // the server saves shared documents by itself
  }
  if (!wasUnsaved) {
    const waited = new Promise<void>(resolve => setTimeout(resolve, SAVING_MS));
    await Promise.race([saved(panel, model), waited]);
  }
  return !panel.isDisposed && model.dirty;
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
      // Lab calls everything saved, also what was typed while it was on the way.
      model.dirty = model.dirty || typed;
    }
  }
}
