import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';

import { RunCard } from '../../../src/shared/run/RunCard';
import type { Guidance, RunCardData } from '../../../src/shared/types';
import { event, FakeServer, runCard, settled } from '../../runs';
import { draw, one } from '../../screen';

const TOP: Guidance = { kind: 'instructions', name: 'AGENTS.md', source: 'workspace' };
const NEAR: Guidance = { kind: 'instructions', name: 'data/AGENTS.md', source: 'workspace' };
const OWN: Guidance = { kind: 'instructions', name: '~/cowork/AGENTS.md', source: 'user' };
const MEMORY: Guidance = { kind: 'memory', name: '.cowork/memory.md', source: 'workspace' };
const JOINS: Guidance = { kind: 'skill', name: 'joins', source: 'package' };
const REPORT: Guidance = { kind: 'template', name: 'monthly-report', source: 'user' };

async function show(
  card: RunCardData,
  server = new FakeServer(card)
): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const screen = draw(<RunCard card={card} channel={server} />);
  await act(settled);
  return { screen, server };
}

const lineOf = (screen: HTMLElement): string | null =>
  screen.querySelector('.cw-guidance')?.textContent ?? null;

describe('what guided a run', () => {
  it('stands on the card in one line', async () => {
    const { screen } = await show(runCard({ guidance: [TOP, NEAR, JOINS, REPORT, MEMORY] }));
    expect(lineOf(screen)).toBe(
      'Guided by AGENTS.md, data/AGENTS.md · what is known about this workspace · skill joins · ' +
        'follows your template monthly-report'
    );
  });

  it('is not mentioned where there was nothing', async () => {
    expect(lineOf((await show(runCard())).screen)).toBeNull();
  });

  it('says when it was only a template, and which instructions are the user’s own', async () => {
    expect(lineOf((await show(runCard({ guidance: [REPORT] }))).screen)).toBe(
      'Follows your template monthly-report'
    );
    expect(lineOf((await show(runCard({ guidance: [OWN] }))).screen)).toBe(
      'Guided by your own AGENTS.md'
    );
  });

  it('comes while the run goes on, each once', async () => {
    const { screen, server } = await show(runCard({ status: 'running', ended_at: null }));
    await server.send(
      event(11, 'guidance-used', { items: [TOP] }),
      event(12, 'guidance-used', { items: [TOP, JOINS] })
    );
    expect(one(screen, '.cw-guidance').textContent).toBe('Guided by AGENTS.md · skill joins');
  });

  it('is read from a record that somebody else has written', async () => {
    const forged = [TOP, null, 'x', { kind: 'skill' }, { ...JOINS, name: 'a\u202eb\n' }];
    const card = runCard({ guidance: forged as Guidance[] });
    const { screen } = await show(card, new FakeServer());
    expect(lineOf(screen)).toBe('Guided by AGENTS.md · skill a⟨U+202E⟩b');
  });
});
