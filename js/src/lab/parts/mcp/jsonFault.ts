/**
 * Locates the first JSON syntax error and what is expected there. Browsers report it differently,
 * some not at all.
 */

import { t } from '../../../shared/text/translate';

export interface JsonFault {
  offset: number;
  line: number;
  column: number;
  expected: string;
}

/** Null if the text is valid JSON. */
export function jsonFault(text: string): JsonFault | null {
  try {
    JSON.parse(text);
    return null;
  } catch {
    const reader = new Reader(text);
    try {
      reader.document();
    } catch (fault) {
      if (!(fault instanceof Fault)) {
        throw fault;
      }
      const before = text.slice(0, fault.offset).split('\n');
      return {
        offset: fault.offset,
        line: before.length,
        column: before[before.length - 1]!.length + 1,
        expected: fault.expected
      };
    }
    return null;
  }
}

class Fault {
  constructor(
    readonly offset: number,
    readonly expected: string
  ) {}
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const PLAIN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  document(): void {
    this.value();
    if (this.at < this.text.length) {
      this.fail(t('nothing more'));
    }
  }

  private value(): void {
    this.take(SPACE);
    const next = this.text[this.at];
    if (next === '{') {
      this.several('}', () => this.member());
    } else if (next === '[') {
      this.several(']', () => this.value());
    } else if (next === '"') {
      this.string();
    } else if (!this.take(PLAIN)) {
      this.fail(t('a value: a text in double quotes, a number, true, false, null, { or ['));
    }
    this.take(SPACE);
  }

  private member(): void {
    this.take(SPACE);
    if (this.text[this.at] !== '"') {
      this.fail(t('a name in double quotes'));
    }
    this.string();
    this.take(SPACE);
    this.sign(':');
    this.value();
  }

  /** A comma-separated list up to the closing bracket. */
  private several(end: string, each: () => void): void {
    this.at += 1;
    this.take(SPACE);
    if (this.text[this.at] !== end) {
      each();
      while (this.text[this.at] === ',') {
        this.at += 1;
        each();
      }
    }
    if (this.text[this.at] !== end) {
      this.fail(t('%1 or %2', ',', end));
    }
    this.at += 1;
  }

  private string(): void {
    this.take(STRING);
    if (this.text[this.at] === '\\') {
      this.fail(t('one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000'));
    }
    this.sign('"');
  }

  private sign(sign: string): void {
    if (this.text[this.at] !== sign) {
      this.fail(sign);
    }
    this.at += 1;
  }

  private take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    this.at += found?.[0].length ?? 0;
    return found !== null;
  }

  private fail(expected: string): never {
    throw new Fault(this.at, expected);
  }
}
