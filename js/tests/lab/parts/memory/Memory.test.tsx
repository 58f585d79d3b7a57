import { render } from 'preact';
import { describe, expect, it } from 'vitest';

import { Memory } from '../../../../src/lab/parts/memory/Memory';
import { Remember } from '../../../../src/lab/parts/memory/Remember';
import type { RunState } from '../../../../src/shared/run/state';
import { FakeServer } from '../../../runs';
import { button, draw, one } from '../../../screen';
import { calm, drawIn, press, write } from '../../panel/drawing';

const PROPOSAL = {
  job_id: 'j1',
  context_id: 'c1',
  request: 'Tidy the sales',
  text: '- old\n- new\n',
  diff: '--- a\n+++ b\n@@ -1 +1,2 @@\n - old\n+- new\n',
  fingerprint: 'f1'
};
const KNOWN = {
  path: '.cowork/memory.md',
  text: '- old',
  trusted: true,
  enabled: true,
  fingerprint: 'f1',
  proposals: [PROPOSAL]
};

describe('the memory in the panel', () => {
  it('shows the file and what a run would add, which is kept at a word', async () => {
    const { screen, server } = await drawIn(<Memory />, {
      'GET memory': KNOWN,
      'POST jobs/j1/memory': KNOWN
    });
    expect(one(screen, 'pre.cw-memory-text').textContent).toBe('- old');
    expect(screen.textContent).toContain('From: Tidy the sales');
    expect(one(screen, '.cw-diff-add').textContent).toBe('+- new\n');
    await press(button(screen, 'Keep'));
    expect(server.changes).toEqual([
      { method: 'POST', path: 'jobs/j1/memory', body: { decision: 'keep', fingerprint: 'f1' } }
    ]);
  });

  it('lets the user change what would be kept, or refuse it', async () => {
    const { screen, server } = await drawIn(<Memory />, {
      'GET memory': { ...KNOWN, text: '' },
      'POST jobs/j1/memory': KNOWN
    });
    const offer = one(screen, '.cw-memory-offer');
    await press(button(offer, 'Edit…'));
    await write(one(offer, 'textarea'), '- mine');
    await press(button(offer, 'Keep'));
    await press(button(offer, 'Cancel'));
    await press(button(offer, 'No'));
    expect(server.changes.map(({ body }) => body)).toEqual([
      { decision: 'keep', fingerprint: 'f1', text: '- mine' },
      { decision: 'drop', fingerprint: 'f1' }
    ]);
  });

  it('is edited for the text that was shown, and forgotten only after a second word', async () => {
    const { screen, server } = await drawIn(<Memory />, {
      'GET memory': { ...KNOWN, proposals: [] },
      'PUT memory': KNOWN,
      'DELETE memory': KNOWN
    });
    await press(button(screen, 'Edit…'));
    await write(one(screen, 'textarea'), '- other');
    await press(button(screen, 'Save'));
    await press(button(screen, 'Cancel'));
    await press(button(screen, 'Forget…'));
    expect(server.changes).toEqual([
      { method: 'PUT', path: 'memory', body: { text: '- other', fingerprint: 'f1' } }
    ]);
    await press(button(screen, 'Forget all of it'));
    expect(server.changes.at(-1)).toMatchObject({ method: 'DELETE', path: 'memory' });
  });

  it('says that what others wrote is not followed, and is trusted as it is shown', async () => {
    const { screen, server } = await drawIn(<Memory />, {
      'GET memory': { ...KNOWN, trusted: false, proposals: [] },
      'PUT memory': KNOWN
    });
    expect(screen.textContent).toContain('No agent follows it until you trust it');
    await press(button(screen, 'Trust it'));
    expect(server.changes).toEqual([
      { method: 'PUT', path: 'memory', body: { text: '- old', fingerprint: 'f1' } }
    ]);
  });
});

describe('the offer below a run', () => {
  const state = (status: 'running' | 'completed' | 'failed'): RunState => {
    const job = { id: 'j1', kind: 'message', planId: null, planRevision: null, status };
    return { jobs: { j1: job }, follows: ['j1'], entries: [], busy: null } as unknown as RunState;
  };

  async function ended(
    how: 'completed' | 'failed',
    seen = true
  ): Promise<[HTMLElement, FakeServer]> {
    const server = new FakeServer();
    server.answers.set('GET jobs/j1/memory', { proposal: PROPOSAL });
    server.answers.set('POST jobs/j1/memory', KNOWN);
    const screen = draw(<Remember channel={server} state={state(seen ? 'running' : how)} />);
    await calm();
    render(<Remember channel={server} state={state(how)} />, screen);
    await calm();
    return [screen, server];
  }

  it('comes when a run ends well in front of the user, and says that it is kept', async () => {
    const [screen, server] = await ended('completed');
    expect(screen.textContent).toContain('Remember this?');
    await press(button(screen, 'Keep'));
    expect(server.changes).toHaveLength(1);
    expect(one(screen, '[role=status]').textContent).toContain('Remembered');
  });

  it('does not come for a run that failed, or that ended long ago', async () => {
    expect((await ended('failed'))[0].textContent).toBe('');
    expect((await ended('completed', false))[0].textContent).toBe('');
  });
});
