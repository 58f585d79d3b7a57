import { YNotebook } from '@jupyter/ydoc';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { Refusal, type CodeCell, type SharedNotebook } from '../../../src/lab/notebook/edits';
import { replaceContent, type Replacement } from '../../../src/lab/notebook/replace';

const code = (id: string, source: string, more: object = {}): never =>
  ({
    ...{ cell_type: 'code', id, source, metadata: {}, outputs: [], execution_count: null },
    ...more
  }) as never;
const OUTPUT = { output_type: 'stream', name: 'stdout', text: '1\n' };

/** The document that Lab itself has, set up as Lab does it. */
let notebook: SharedNotebook;

beforeEach(() => {
  // Yjs warns about what its own document package does.
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const cells = [code('c0', 'one'), code('c1', 'two'), code('c2', 'three')];
  notebook = YNotebook.create({
    disableDocumentWideUndoRedo: true,
    data: { nbformat: 4, nbformat_minor: 5, metadata: { a: 1, b: 2 }, cells } as never
  }) as unknown as SharedNotebook;
});

const texts = (): { id: string; cell_type: string; source: string }[] =>
  notebook.cells.map(({ id, cell_type, source }) => ({ id, cell_type, source }));
const sources = (): string[] => notebook.cells.map(({ source }) => source);
const replace = (more: Partial<Replacement>): void =>
  replaceContent(notebook, { expected: texts(), ...more });

describe('another content for an open document', () => {
  it('keeps the cells that stay, and can be undone in one step', () => {
    const stays = notebook.cells[1]!;
    replace({
      cells: [
        { id: 'c2', source: 'three\nmore', execution_count: 3 },
        code('new', 'x', { outputs: [OUTPUT] }),
        { id: 'c1' },
        { cell_type: 'markdown', id: 'c0', source: '# one', metadata: { tags: ['t'] } }
      ],
      metadata: { set: { b: 3, c: [4] } as never, delete: ['a'] }
    });
    expect(notebook.cells.map(({ id }) => id)).toEqual(['c2', 'new', 'c1', 'c0']);
    expect(sources()).toEqual(['three\nmore', 'x', 'two', '# one']);
    expect(notebook.cells[3]).toMatchObject({ cell_type: 'markdown', metadata: { tags: ['t'] } });
    expect(notebook.cells[1]?.toJSON()).toMatchObject({ outputs: [OUTPUT] });
    expect(notebook.cells[0]?.toJSON()).toMatchObject({ execution_count: 3 });
    expect(notebook.metadata).toEqual({ b: 3, c: [4] });
    expect(notebook.dirty).toBe(true);
    expect(notebook.cells).toContain(stays);
    notebook.undo();
    expect(sources()).toEqual(['one', 'two', 'three']);
  });

  it('leaves what is not named, such as a card that was saved meanwhile', () => {
    const cell = notebook.cells[1] as CodeCell;
    cell.setOutputs([OUTPUT]);
    cell.execution_count = 2;
    replace({ cells: [{ id: 'c1', metadata: { tags: ['t'] } }] });
    expect(sources()).toEqual(['two']);
    expect(cell.toJSON()).toMatchObject({
      outputs: [OUTPUT],
      execution_count: 2,
      metadata: { tags: ['t'] }
    });
  });

  it('gives a cell what it showed, or nothing to show', () => {
    const cell = notebook.cells[1] as CodeCell;
    cell.setOutputs([OUTPUT]);
    replace({ cells: [{ id: 'c1', outputs: null }] });
    expect(cell.getOutputs()).toEqual([]);
    replace({ cells: [{ id: 'c1', outputs: [OUTPUT] }] });
    expect(cell.getOutputs()).toEqual([OUTPUT]);
  });

  it.each([
    ['was edited', () => notebook.cells[2]!.updateSource(0, 0, 'mine ')],
    ['was inserted', () => notebook.insertCell(0, code('own', 'mine'))],
    ['was deleted', () => notebook.deleteCell(2)],
    ['was moved', () => notebook.moveCell(0, 1)]
  ])('is refused if a cell %s meanwhile, with what is there now', (_, work) => {
    const expected = texts();
    work();
    const now = texts();
    const attempt = (): void =>
      replaceContent(notebook, { expected, cells: [{ id: 'c0', source: '1' }] });
    expect(attempt).toThrow(Refusal);
    try {
      attempt();
    } catch (refusal) {
      expect(refusal).toMatchObject({ code: 'document_changed', facts: { texts: now } });
    }
    expect(texts()).toEqual(now);
  });

  it('takes documents without ids as a whole, if their texts are as expected', () => {
    const content = {
      nbformat: 4,
      nbformat_minor: 4,
      metadata: {},
      cells: [code('x', 'only', { id: undefined })]
    } as never;
    const expected = texts().map(({ cell_type, source }) => ({ cell_type, source }));
    expect(() => replaceContent(notebook, { expected: expected.slice(1), content })).toThrow(
      Refusal
    );
    replaceContent(notebook, { expected, content });
    expect(sources()).toEqual(['only']);
    replaceContent(notebook, {
      expected: null,
      content: { ...(content as object), cells: [] } as never
    });
    expect(sources()).toEqual([]);
  });
});
