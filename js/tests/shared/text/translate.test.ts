import { afterEach, describe, expect, it } from 'vitest';

import { money, tokens } from '../../../src/shared/text/format';
import { roleLook } from '../../../src/shared/role/roles';
import { counted, translateKnown, setTranslation, t } from '../../../src/shared/text/translate';

const LOUD = {
  __: (text: string) => text.toUpperCase(),
  _n: (one: string, many: string, count: number) => `${count > 2 ? many : one}!`
};

afterEach(() => {
  setTranslation(null);
  document.documentElement.lang = '';
});

describe('t', () => {
  it('fills in values, and leaves magics and missing values alone', () => {
    expect(t('%1 and %2', 'a', 'b')).toBe('a and b');
    expect(t('Write %1', '%%plan')).toBe('Write %%plan');
    expect(t('100 % of %1')).toBe('100 % of %1');
  });

  it('lets the host translate everything, roles included, at any time', () => {
    setTranslation(LOUD);
    expect(roleLook('planner').label).toBe('PLANNER');
    setTranslation(null);
    expect(roleLook('planner').label).toBe('Planner');
  });

  it('speaks the language of the page also in a script that was loaded beside it', async () => {
    setTranslation(LOUD);
    const again = '../../../src/shared/text/translate?again';
    const other = (await import(/* @vite-ignore */ again)) as { t: typeof t };
    expect(other.t).not.toBe(t);
    expect(other.t('Open')).toBe('OPEN');
  });
});

describe('counted', () => {
  it('chooses between singular and plural, with further values', () => {
    expect(counted(1, '%1 file in %2', '%1 files in %2', 'a')).toBe('1 file in a');
    expect(counted(0, '%1 file in %2', '%1 files in %2', 'a')).toBe('0 files in a');
  });

  it('leaves the choice to the language', () => {
    setTranslation(LOUD);
    expect(counted(2, 'one', 'many')).toBe('one!');
    expect(counted(3, 'one', 'many')).toBe('many!');
  });
});

describe('said', () => {
  it('translates sentences, and leaves everything else as it came', () => {
    setTranslation(LOUD);
    expect(translateKnown('Try again')).toBe('TRY AGAIN');
    expect(translateKnown('built-in guide')).toBe('BUILT-IN GUIDE');
    for (const text of ['constructor', 'Take %1', 'Hidden\u0004text', 'Two\nlines', '']) {
      expect(translateKnown(text)).toBe(text);
    }
  });
});

describe('figures', () => {
  it('are written as the language of the page has them', () => {
    expect(tokens(5800)).toBe('5.8k tokens');
    document.documentElement.lang = 'de-DE';
    expect(tokens(5800)).toBe('5,8k tokens');
  });

  it('of money have the currency that was configured, whatever it is called', () => {
    expect(money(0.0123)).toBe('$0.012');
    expect(money(12, 'EUR')).toBe('€12.00');
    expect(money(12, 'credits')).toBe('12.00 credits');
    document.documentElement.lang = 'de-DE';
    expect(money(12, 'EUR').replace(/\s/, ' ')).toBe('12,00 €');
  });
});
