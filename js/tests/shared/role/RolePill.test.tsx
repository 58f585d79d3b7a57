import { act } from 'preact/test-utils';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { CoworkError } from '../../../src/shared/channel/channel';
import { RolePill } from '../../../src/shared/role/RolePill';
import { knownRoles, learnRoles, roleLook, SavedRoles } from '../../../src/shared/role/roles';
import { RoleSwitcher } from '../../../src/shared/role/RoleSwitcher';
import { PLANNER, STATISTICIAN } from '../../samples';
import { click, draw, one } from '../../screen';

afterEach(() => learnRoles([]));

describe('roleLook', () => {
  it('knows what the server has said, and no role by itself', () => {
    expect(knownRoles()).toEqual([]);
    expect(roleLook('planner')).toMatchObject({ label: 'Planner', colour: 'grey' });
    learnRoles([PLANNER]);
    expect(roleLook('planner')).toMatchObject({ colour: 'blue', icon: 'search' });
  });

  it('believes the server before a saved card', () => {
    const forged = { ...PLANNER, label: 'Harmless' };
    expect(roleLook('planner', [forged]).label).toBe('Harmless');
    learnRoles([PLANNER]);
    expect(roleLook('planner', [forged]).label).toBe('Planner');
  });

  it('makes something readable of a role it does not know', () => {
    expect(roleLook('land_gardener')).toMatchObject({ label: 'Land gardener', colour: 'grey' });
  });
});

describe('RolePill', () => {
  it('is plain text with an explanation when there is nothing to choose', () => {
    learnRoles([PLANNER]);
    const pill = one(draw(<RolePill role="planner" />), '.cw-pill');
    expect(pill.tagName).toBe('SPAN');
    expect(pill.title).toBe('As the server describes it.');
  });

  it('is a button that says what it opens when a role can be chosen', async () => {
    const choose = vi.fn();
    const pill = one(draw(<RolePill role="actor" onChoose={choose} />), 'button');
    expect(pill.getAttribute('aria-haspopup')).toBe('menu');
    await click(pill);
    expect(choose).toHaveBeenCalledWith(pill);
  });

  it('is drawn anew once the server has said how the role looks', async () => {
    const root = draw(<RolePill role="statistician" />);
    expect(one(root, '.cw-pill').classList).toContain('cw-colour-grey');
    await act(async () => learnRoles([STATISTICIAN]));
    expect(one(root, '.cw-pill').classList).toContain('cw-colour-brown');
  });

  it('looks as its card has saved it where nobody can be asked', () => {
    const root = draw(
      <SavedRoles value={[STATISTICIAN]}>
        <RolePill role="statistician" />
      </SavedRoles>
    );
    expect(one(root, '.cw-pill').classList).toContain('cw-colour-brown');
  });
});

describe('RoleSwitcher', () => {
  const switcher = (request: (path: string) => Promise<unknown>, onSwitch = vi.fn()) => (
    <RoleSwitcher
      role="planner"
      channel={{
        request: async <A,>(_: string, path: string) => (await request(path)) as A,
        subscribe: () => () => undefined
      }}
      onSwitch={onSwitch}
    />
  );

  it('offers the roles that the server has when it is opened', async () => {
    const onSwitch = vi.fn(() => Promise.resolve());
    const answers = [[PLANNER, STATISTICIAN], [PLANNER]];
    const root = draw(switcher(async () => ({ items: answers.shift() }), onSwitch));
    await click(one(root, 'button'));
    const items = [...root.querySelectorAll('[role=menuitemradio]')];
    expect(items.map(item => item.textContent)).toEqual([
      'PlannerAs the server describes it.',
      'StatisticianTests hypotheses.'
    ]);
    expect(document.activeElement).toBe(items[0]);
    await click(items[1] as HTMLElement);
    expect(onSwitch).toHaveBeenCalledWith('statistician', false);
    await click(one(root, 'button'));
    expect(root.querySelectorAll('[role=menuitemradio]')).toHaveLength(1);
  });

  it('says when nobody answers', async () => {
    const root = draw(
      switcher(() => Promise.reject(new CoworkError({ code: 'x', message: 'No server.' })))
    );
    await click(one(root, 'button'));
    expect(root.textContent).toContain('No server.');
  });
});
