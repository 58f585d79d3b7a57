/** Tells what the user typed since the last save from what only runs have changed. */

import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';

/** The cells that are in the file, without their outputs. */
const saved = new WeakMap<INotebookModel, string>();

export async function followSaves({ context }: NotebookPanel): Promise<void> {
  await context.ready;
  const { model } = context;
  let writing = cellsOf(model);
  if (!model.dirty) {
    saved.set(model, writing);
  }
  context.saveState.connect((_, state) => {
    if (state === 'started') {
      writing = cellsOf(model);
    } else if (state === 'completed') {
      saved.set(model, writing); // not what was typed meanwhile
    }
  });
}

/** Whether it has unsaved changes other than outputs, as those of cards. */
export function hasUnsavedTyping(model: INotebookModel): boolean {
  return model.dirty && saved.get(model) !== cellsOf(model);
}

function cellsOf(model: INotebookModel): string {
  return JSON.stringify(
    model.sharedModel.cells.map(({ id, cell_type, source, metadata }) => [
      id,
      cell_type,
      source,
      { ...metadata, execution: undefined } // when it ran, if Lab records that
    ])
  );
}
