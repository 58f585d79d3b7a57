import { describe, expect, it } from 'vitest';

import { jsonFault } from '../../../../src/lab/parts/mcp/jsonFault';

const GOOD =
  '{\n  "a": [1, -2.5e3, true, null],\n  "b": {"c": "d\\n\\u00e9", "e": {}, "f": []}\n}\n';

describe('where a text stops being JSON', () => {
  it.each([
    ['', 1, 1, 'a value'],
    ['npx -y', 1, 1, 'a value'],
    ["{'a': 1}", 1, 2, 'a name in double quotes'],
    ['{"a": 1,}', 1, 9, 'a name in double quotes'],
    ['{"a" 1}', 1, 6, ':'],
    ['{\n"a": 1\n"b": 2}', 3, 1, ', or }'],
    ['[1, 2', 1, 6, ', or ]'],
    ['[1,]', 1, 4, 'a value'],
    ['{"a": "x\ny"}', 1, 9, '"'],
    ['"\\x"', 1, 2, 'one of'],
    ['{} {}', 1, 4, 'nothing more']
  ])('%j', (text, line, column, expected) => {
    const fault = jsonFault(text);
    expect([fault?.line, fault?.column]).toEqual([line, column]);
    expect(fault?.expected).toContain(expected);
  });

  it('is nowhere in JSON, and somewhere in all else', () => {
    expect(jsonFault(GOOD)).toBeNull();
    for (let cut = 0; cut < GOOD.length; cut += 1) {
      for (const text of [
        GOOD.slice(0, cut) + GOOD.slice(cut + 1),
        `${GOOD.slice(0, cut)}"${GOOD.slice(cut)}`
      ]) {
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect([text, jsonFault(text) === null]).toEqual([text, isJson]);
      }
    }
  });
});
