import type { NotebookPanel } from '@jupyterlab/notebook';
import { describe, expect, it } from 'vitest';

import {
  errorOf,
  isOurs,
  isPrivate,
  requestFor
} from '../../../../src/lab/parts/suggestions/request';
import type { Cell } from '../../../../src/lab/notebook/cellCommands';

type Model = Cell['model'];

function shared(id: string, source: string, tags: string[] = []): object {
  return {
    id,
    source,
    cell_type: 'code',
    metadata: { tags },
    execution_count: 1,
    getOutputs: () => []
  };
}

function model(outputs: object[]): Model {
  const made = outputs.map(one => ({
    type: (one as { output_type: string }).output_type,
    toJSON: () => one
  }));
  return { outputs: { length: made.length, get: (at: number) => made[at] } } as unknown as Model;
}

function panelOf(...cells: object[]): NotebookPanel {
  return { content: { model: { sharedModel: { cells } } } } as unknown as NotebookPanel;
}

const here = { id: 'c1', sharedModel: { source: 'b' } } as unknown as Model;

describe('what is sent with a gesture', () => {
  it('has the cells around it, and none that is private', () => {
    const panel = panelOf(shared('c0', 'a'), shared('c1', 'b'), shared('c2', 'key', ['private']));
    const request = requestFor(panel, here, 'change', { instruction: 'do' });
    expect(request).toMatchObject({
      kind: 'change',
      cell_id: 'c1',
      source: 'b',
      instruction: 'do'
    });
    expect(request.cells.map(({ id, has_run }) => [id, has_run])).toEqual([
      ['c0', true],
      ['c1', true]
    ]);
    expect(JSON.stringify(request)).not.toContain('key');
  });

  it('has no more cells than the server takes, the nearest ones, and no data', () => {
    const many = Array.from({ length: 500 }, (_, at) => shared(`c${at}`, `x${at}`));
    many[299] = shared('c299', 'x'.repeat(30_000));
    const at = { id: 'c300', sharedModel: { source: 'x300' } } as unknown as Model;
    const ids = requestFor(panelOf(...many), at, 'fix').cells.map(({ id }) => id);
    expect(ids).toHaveLength(199);
    expect(ids).toContain('c300');
    expect(ids).not.toContain('c299');
  });

  it('knows how the cell failed, without the codes of terminals', () => {
    const error = {
      output_type: 'error',
      ename: 'KeyError',
      evalue: "'a'",
      traceback: ['\u001b[0;31mKeyError\u001b[0m', 'line 1']
    };
    expect(errorOf(model([{ output_type: 'stream' }, error]))).toEqual({
      name: 'KeyError',
      value: "'a'",
      traceback: 'KeyError\nline 1'
    });
    expect(errorOf(model([{ output_type: 'stream' }]))).toBeNull();
    expect(errorOf(model([{ ...error, ename: 'KeyboardInterrupt' }]))).toBeNull();
    expect(errorOf({} as Model)).toBeNull();
  });

  it('tells private cells and cells of ours', () => {
    expect(isPrivate({ metadata: { tags: ['private'] } })).toBe(true);
    expect(isPrivate({ metadata: {} })).toBe(false);
    expect(['%%plan\nx', ' %cowork status'].map(isOurs)).toEqual([true, true]);
    expect(['plan()', '%%time\nx'].map(isOurs)).toEqual([false, false]);
  });
});
