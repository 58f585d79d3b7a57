import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';

import { CoworkError } from '../../../src/shared/channel/channel';
import { RunCard } from '../../../src/shared/run/RunCard';
import { event, FakeServer, message, runCard, settled } from '../../runs';
import { button, click, draw } from '../../screen';

const LEFT = { id: 'b1', paths: ['.vscode', 's/.envrc'], new: ['node_modules/x'] };
const ADDRESS = 'POST context/ctx/set-aside/b1/restore';

const CALL = { call_id: 'c1', tool: 'execute_command', parameters: { command: 'sh make.sh' } };

async function show(): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const card = runCard({ status: 'running', ended_at: null, role: 'actor' });
  const server = new FakeServer(card);
  const screen = draw(<RunCard card={card} channel={server} />);
  await act(settled);
  return { screen, server };
}

function address(server: FakeServer): string {
  return ADDRESS.replace('ctx', server.card?.context_id ?? '');
}

async function afterCommand(): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const shown = await show();
  await shown.server.send(
    event(11, 'message', message('tool_call', '', { data: CALL })),
    event(
      12,
      'message',
      message('tool_result', 'fine', {
        data: { call_id: 'c1', ok: true, facts: { set_aside: LEFT } }
      })
    )
  );
  return shown;
}

describe('what a command left behind', () => {
  it('is named on the card, and comes back with one click', async () => {
    const { screen, server } = await afterCommand();
    expect(screen.textContent).toContain(
      'Set aside, because programs would run it later: .vscode, s/.envrc'
    );
    server.answers.set(address(server), {
      restored: ['.vscode'],
      skipped: [{ path: 's/.envrc', why: 'something else is there now' }]
    });
    await click(button(screen, 'Bring back'));
    expect(server.changes.map(({ method, path }) => `${method} ${path}`)).toEqual([
      address(server)
    ]);
    expect(screen.textContent).toContain('Back in its place: .vscode');
    expect(screen.textContent).toContain('Still set aside: s/.envrc (something else is there now)');
    expect(screen.textContent).not.toContain('Bring back');
  });

  it('says that it came back already, and what went wrong', async () => {
    const { screen, server } = await afterCommand();
    const gone = { code: 'not_found', message: 'This is not kept any more.', status: 404 };
    server.answers.set(address(server), new CoworkError(gone));
    await click(button(screen, 'Bring back'));
    expect(screen.textContent).toContain('This is not kept any more.');
    server.answers.set(address(server), { restored: [], skipped: [] });
    await click(button(screen, 'Bring back'));
    expect(screen.textContent).toContain('It is back already.');
  });

  it('is named in a notice, if another program left it', async () => {
    const { screen, server } = await show();
    const message = 'X left files that would run later. could not be set aside: .idea';
    const data = { code: 'left_behind', message, set_aside: { id: '', stuck: ['.idea'] } };
    await server.send(event(11, 'notice', data));
    expect(screen.textContent).toContain(message);
    expect(screen.textContent).not.toContain('Bring back');
    const moved = { code: 'left_behind', message, set_aside: { id: 'b1', paths: ['.zed'] } };
    await server.send(event(12, 'notice', moved));
    expect(screen.textContent).toContain('run it later: .zed');
    expect(screen.textContent).toContain('Bring back');
  });

  it('is limited', async () => {
    const { screen, server } = await show();
    const paths = Array.from({ length: 12 }, (_, number) => `.f${number}\u202e`);
    const data = { code: 'left_behind', message: 'x', set_aside: { id: 'b1', paths } };
    await server.send(event(11, 'notice', data));
    expect(screen.textContent).toContain('… and 2 more');
    expect(screen.textContent).not.toContain('\u202e');
  });
});
