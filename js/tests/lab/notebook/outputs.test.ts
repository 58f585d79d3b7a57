import { describe, expect, it } from 'vitest';

import { shortened } from '../../../src/lab/notebook/outputs';

const huge = 'x'.repeat(5_000_000);

describe('outputs on their way to the server', () => {
  it('keeps beginning and end of long texts, and says how much is missing', () => {
    const { text } = shortened({
      output_type: 'stream',
      name: 'stdout',
      text: ['first\n', huge, '\nlast']
    }) as { text: string };
    expect(text.length).toBeLessThan(21_000);
    expect(text).toMatch(/^first\n[^]*characters left out[^]*\nlast$/);
  });

  it('keeps of pictures their head and their length', () => {
    const output = shortened({
      output_type: 'display_data',
      data: { 'image/png': huge, 'text/plain': '<Figure>' }
    });
    expect(output['data']).toEqual({
      'image/png': { length: huge.length, head: 'x'.repeat(4096) },
      'text/plain': '<Figure>'
    });
  });

  it('keeps pictures whole where they are wanted, unless they are too large', () => {
    const output = {
      output_type: 'display_data',
      data: { 'image/png': ['AA', 'AA'], 'image/gif': huge, 'audio/wav': 'AAAA' }
    };
    expect(shortened(output, true)['data']).toEqual({
      'image/png': 'AAAA',
      'image/gif': { length: huge.length, head: 'x'.repeat(4096) },
      'audio/wav': { length: 4, head: 'AAAA' }
    });
  });

  it('keeps JSON as text, and tracebacks in one piece', () => {
    expect(
      shortened({ output_type: 'display_data', data: { 'application/json': { a: [1] } } })['data']
    ).toEqual({
      'application/json': '{"a":[1]}'
    });
    const error = { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['a', 'b'] };
    expect(shortened(error)).toEqual({ ...error, traceback: ['a\nb'] });
    expect(JSON.stringify(shortened({ ...error, traceback: [huge] })).length).toBeLessThan(21_000);
  });
});
