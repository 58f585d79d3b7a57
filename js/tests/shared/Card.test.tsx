import { describe, expect, it } from 'vitest';

import { Card } from '../../src/shared/Card';
import { button, draw } from '../screen';

describe('a card in a notebook', () => {
  it('keeps keys from Lab wherever in it the focus is: Lab looks at the focused element alone', () => {
    const screen = draw(
      <Card edge="blue" label="Card" header="Head">
        <button type="button">Press</button>
      </Card>
    );
    button(screen, 'Press').focus();
    expect(document.activeElement?.hasAttribute('data-lm-suppress-shortcuts')).toBe(true);
  });
});
