import { describe, expect, it, vi } from 'vitest';

import { RolePill } from '../../../src/shared/role/RolePill';
import { ROLE_NAMES, roleLook } from '../../../src/shared/role/roles';
import { PLANNER } from '../../samples';
import { click, draw, one } from '../../screen';

describe('roleLook', () => {
  it('gives every role its own icon and its own colour', () => {
    const looks = ROLE_NAMES.map(name => roleLook(name));
    expect(new Set(looks.map(({ icon }) => icon)).size).toBe(6);
    expect(new Set(looks.map(({ colour }) => colour)).size).toBe(6);
    expect(looks[0]).toMatchObject({ icon: 'search', colour: 'blue' });
    expect(looks[1]).toMatchObject({ icon: 'bolt', colour: 'green' });
  });

  it('believes the server before itself', () => {
    expect(roleLook('planner', [PLANNER]).description).toBe('As the server describes it.');
  });

  it('makes something readable of a role it does not know', () => {
    expect(roleLook('gardener')).toMatchObject({ label: 'Gardener', colour: 'grey' });
  });
});

describe('RolePill', () => {
  it('is plain text with an explanation when there is nothing to choose', () => {
    const pill = one(draw(<RolePill role={roleLook('planner')} />), '.cw-pill');
    expect(pill.tagName).toBe('SPAN');
    expect(pill.title).toBe('Reads and plans; changes nothing.');
  });

  it('is a button that says what it opens when a role can be chosen', async () => {
    const choose = vi.fn();
    const pill = one(draw(<RolePill role={roleLook('actor')} onChoose={choose} />), 'button');
    expect(pill.getAttribute('aria-haspopup')).toBe('menu');
    await click(pill);
    expect(choose).toHaveBeenCalledWith(pill);
  });
});
