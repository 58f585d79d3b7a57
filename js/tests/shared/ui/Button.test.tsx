import { describe, expect, it } from 'vitest';

import { CoworkError } from '../../../src/shared/channel/channel';
import { Failure } from '../../../src/shared/ui/Button';
import { draw, one } from '../../screen';

describe('Failure', () => {
  it('shows code as code', () => {
    const error = new CoworkError({ code: 'no_model', message: 'Use the `%cowork` card.' });
    expect(one(draw(<Failure error={error} />), 'code').textContent).toBe('%cowork');
  });
});
