import { afterEach, describe, expect, it } from 'vitest';

import { roleLook } from '../../src/shared/roles';
import { setTranslate, t } from '../../src/shared/translate';

describe('t', () => {
  afterEach(() => setTranslate(null));

  it('fills in values, and leaves magics and missing values alone', () => {
    expect(t('%1 and %2', 'a', 'b')).toBe('a and b');
    expect(t('Write %1', '%%plan')).toBe('Write %%plan');
    expect(t('100 % of %1')).toBe('100 % of %1');
  });

  it('lets the host translate everything, roles included, at any time', () => {
    setTranslate(text => text.toUpperCase());
    expect(roleLook('planner').label).toBe('PLANNER');
    setTranslate(null);
    expect(roleLook('planner').label).toBe('Planner');
  });
});
