import { describe, expect, it } from 'vitest';

import {
  fieldsOf,
  initialValues,
  isComplete,
  parametersOf,
  takesFiles,
  withPicked
} from '../../../../src/lab/parts/workflows/schemaForm';

const SCHEMA = {
  type: 'object',
  required: ['notebook', 'count'],
  $defs: { Kind: { enum: ['a', 'b'], type: 'string' } },
  properties: {
    notebook: { type: 'string', format: 'notebook-path', title: 'Notebook' },
    count: { type: 'integer' },
    fast: { type: 'boolean', default: true, description: 'Hurry' },
    kind: { $ref: '#/$defs/Kind', default: 'b' },
    paths: { type: 'array', items: { type: 'string', format: 'path' }, default: ['x.py', 'y.py'] },
    limit: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
    more: { type: 'object' }
  }
};

describe('forms from schemas', () => {
  it('know which fields are for files, and take what was picked', () => {
    const fields = fieldsOf(SCHEMA, null);
    const [notebook, paths] = fields.filter(takesFiles);
    expect([notebook?.name, paths?.name]).toEqual(['notebook', 'paths']);
    if (notebook && paths) {
      expect(withPicked(notebook, 'old.ipynb', ['new.ipynb'])).toBe('new.ipynb');
      expect(withPicked(notebook, 'old.ipynb', [])).toBe('old.ipynb');
      expect(withPicked(paths, 'x.py\n', ['x.py', 'z.py'])).toBe('x.py\nz.py');
    }
  });

  it('have a field of the right kind for each property', () => {
    const fields = fieldsOf(SCHEMA, 'sales.ipynb');
    expect(
      fields.map(({ name, kind, isRequired, initial }) => [name, kind, isRequired, initial])
    ).toEqual([
      ['notebook', 'text', true, 'sales.ipynb'],
      ['count', 'number', true, ''],
      ['fast', 'boolean', false, true],
      ['kind', 'choice', false, 'b'],
      ['paths', 'lines', false, 'x.py\ny.py'],
      ['limit', 'number', false, ''],
      ['more', 'json', false, '']
    ]);
    expect(fields[3]?.choices).toEqual(['a', 'b']);
    expect(fields[1]?.title).toBe('count');
  });

  it('send what was typed as the schema wants it, and leave out what is empty', () => {
    const fields = fieldsOf(SCHEMA, null);
    const values = {
      ...initialValues(fields),
      notebook: ' a.ipynb ',
      count: '3',
      paths: 'z.py\n\n',
      more: '{"deep": [1]}'
    };
    expect(parametersOf(fields, values)).toEqual({
      notebook: 'a.ipynb',
      count: 3,
      fast: true,
      kind: 'b',
      paths: ['z.py'],
      more: { deep: [1] }
    });
  });

  it('send what cannot be right as it is: the server says what is wrong with it', () => {
    const fields = fieldsOf(SCHEMA, null);
    expect(
      parametersOf(fields, { ...initialValues(fields), count: 'three', more: '{' })
    ).toMatchObject({ count: 'three', more: '{' });
  });

  it('are complete when everything required is there', () => {
    const fields = fieldsOf(SCHEMA, null);
    expect(isComplete(fields, initialValues(fields))).toBe(false);
    expect(isComplete(fields, { ...initialValues(fields), notebook: 'a.ipynb', count: '1' })).toBe(
      true
    );
  });

  it('survive schemas that say nothing', () => {
    expect(fieldsOf({}, null)).toEqual([]);
    expect(fieldsOf({ properties: { x: 3 } }, null)).toMatchObject([{ name: 'x', kind: 'json' }]);
  });
});
