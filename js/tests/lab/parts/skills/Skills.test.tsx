import { describe, expect, it } from 'vitest';

import { Skills } from '../../../../src/lab/parts/skills/Skills';
import { CoworkError } from '../../../../src/shared/channel/channel';
import { AT } from '../../../runs';
import { one } from '../../../screen';
import { drawIn, press } from '../../panel/drawing';

const JOINS = {
  name: 'joins',
  description: 'Combine tables by key.',
  source: 'package',
  path: '/somewhere/joins',
  trusted: true,
  enabled: true,
  allowed_tools: [],
  compatibility: '',
  license: '',
  files: [],
  last_used: null
};
const TEAM = {
  ...JOINS,
  name: 'team',
  source: 'workspace',
  path: '.agents/skills/team',
  trusted: false,
  allowed_tools: ['Bash(*)']
};

function skills(...items: unknown[]): unknown {
  return { items, next: null, problems: [] };
}

describe('skills', () => {
  it('say whose they are, when they were used, and what they would like', async () => {
    const { screen } = await drawIn(<Skills />, {
      'GET skills': skills(TEAM, { ...JOINS, last_used: AT })
    });
    const [team, joins] = screen.querySelectorAll('li');
    expect(team?.textContent).toContain('from this workspace');
    expect(team?.textContent).toContain('Not trusted yet');
    expect(team?.textContent).toContain(
      'It wants to use Bash(*) without asking. That grants nothing'
    );
    expect(team?.querySelector('input')).toBeNull();
    expect(joins?.textContent).toContain('comes with Cowork');
    expect(joins?.textContent).toContain('Last used: ');
  });

  it('are switched off and on', async () => {
    const { screen, server } = await drawIn(<Skills />, {
      'GET skills': skills(JOINS),
      'POST skills/joins': skills({ ...JOINS, enabled: false })
    });
    const toggle = one<HTMLInputElement>(screen, 'input[role=switch]');
    expect(toggle.getAttribute('aria-label')).toBe('Use the skill joins');
    expect(toggle.checked).toBe(true);
    server.answers.set('GET skills', skills({ ...JOINS, enabled: false }));
    await press(toggle);
    expect(server.changes).toEqual([
      { method: 'POST', path: 'skills/joins', body: { enabled: false } }
    ]);
    expect(one<HTMLInputElement>(screen, 'input[role=switch]').checked).toBe(false);
    expect(one(screen, '.cw-check').textContent).toBe('off');
  });

  it('say what went wrong', async () => {
    const message = 'Cannot write settings.json.';
    const { screen } = await drawIn(<Skills />, {
      'GET skills': { ...(skills(JOINS) as object), problems: [{ code: 'x', message: 'Bad.' }] },
      'POST skills/joins': new CoworkError({ code: 'x', message, status: 500 })
    });
    expect(screen.textContent).toContain('Bad.');
    await press(one<HTMLInputElement>(screen, 'input[role=switch]'));
    expect(one(screen, 'li [role=alert]').textContent).toBe(message);
    expect(one<HTMLInputElement>(screen, 'input[role=switch]').checked).toBe(true);
  });
});
