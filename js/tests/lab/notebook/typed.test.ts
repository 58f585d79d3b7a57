import { YNotebook } from '@jupyter/ydoc';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { describe, expect, it, vi } from 'vitest';

// The real one draws with web components, which goes on after a test has ended.
vi.mock('@jupyterlab/notebook', () => ({ NotebookActions: {} }));

import { asCode, type SharedNotebook } from '../../../src/lab/notebook/edits';
import { answerTo } from '../../../src/lab/notebook/operations';
import { followSaves, hasUnsavedTyping } from '../../../src/lab/notebook/typed';

/** An open notebook; saving it waits for `write`. */
async function openNotebook(write: () => Promise<void> = async () => undefined) {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined); // Yjs, about its own document
  const cells = [{ cell_type: 'code', id: 'c0', source: '%%plan', metadata: {}, outputs: [] }];
  const notebook = YNotebook.create({
    disableDocumentWideUndoRedo: true,
    data: { nbformat: 4, nbformat_minor: 5, metadata: {}, cells } as never
  }) as unknown as SharedNotebook;
  notebook.dirty = false;
  const model = {
    sharedModel: notebook,
    get dirty() {
      return notebook.dirty;
    },
    set dirty(value: boolean) {
      notebook.dirty = value;
    },
    contentChanged: { connect: () => true, disconnect: () => true }
  };
  const saveState = new Signal<object, string>({});
  const save = vi.fn(async () => {
    saveState.emit('started');
    await write();
    model.dirty = false;
    saveState.emit('completed');
  });
  const context = { ready: Promise.resolve(), model, saveState, save };
  const signal = { connect: () => true };
  const content = {
    model,
    outerNode: document.createElement('div'),
    widgets: [],
    activeCell: null,
    modelContentChanged: signal
  };
  const panel = {
    isDisposed: false,
    context,
    content,
    disposed: signal
  } as unknown as NotebookPanel;
  await followSaves(panel);
  return { panel, model: panel.content.model!, notebook, save };
}

function showCard(notebook: SharedNotebook): void {
  asCode(notebook.cells[0]!)!.setOutputs([
    { output_type: 'display_data', data: { 'text/plain': 'A card' }, metadata: {} }
  ]);
}

describe('what a user typed', () => {
  it('is not what a card shows', async () => {
    const { model, notebook } = await openNotebook();
    showCard(notebook);
    expect([model.dirty, hasUnsavedTyping(model)]).toEqual([true, false]);
    notebook.cells[0]!.setSource('x = 1');
    expect(hasUnsavedTyping(model)).toBe(true);
  });

  it('is saved with the notebook', async () => {
    const { panel, model, notebook } = await openNotebook();
    notebook.cells[0]!.setSource('x = 1');
    await panel.context.save();
    showCard(notebook);
    expect(hasUnsavedTyping(model)).toBe(false);
  });

  it('is not saved if it was typed while the notebook was being saved', async () => {
    const opened = await openNotebook(async () => opened.notebook.cells[0]!.setSource('x = 1'));
    await opened.panel.context.save();
    showCard(opened.notebook);
    expect(hasUnsavedTyping(opened.model)).toBe(true);
  });
});

describe('a cell that the agent inserts', () => {
  const edit = {
    kind: 'insert',
    cell_id: 'c1',
    after: 'c0',
    expected: null,
    source: 'import pandas',
    cell_type: 'code'
  };
  const insert = (panel: NotebookPanel) =>
    answerTo({ id: 1, op: 'change', path: 'n.ipynb', edit } as never, panel, {
      decide: async () => undefined,
      stale: async () => []
    });

  it('is saved below a card that has changed since the last save', async () => {
    const { panel, notebook, save } = await openNotebook();
    showCard(notebook);
    expect(await insert(panel)).toMatchObject({ ok: true, unsaved: false });
    expect(save).toHaveBeenCalledOnce();
  });

  it('is left unsaved while the user is typing', async () => {
    const { panel, notebook, save } = await openNotebook();
    notebook.cells[0]!.setSource('x = 1');
    expect(await insert(panel)).toMatchObject({ ok: true, unsaved: true });
    expect(save).not.toHaveBeenCalled();
  });
});
