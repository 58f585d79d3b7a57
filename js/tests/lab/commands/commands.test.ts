import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import { CommandRegistry } from '@lumino/commands';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { CommandIDs } from '../../../src/lab/commands/ids';
import { addCommands, addToPalette } from '../../../src/lab/commands/commands';
import { CoworkModel } from '../../../src/lab/model/coworkModel';
import { PanelState } from '../../../src/lab/panel/panelState';
import { learnRoles } from '../../../src/shared/role/roles';
import { PLANNER, READY } from '../../samples';
import { FakeActivityFeed } from '../model/fakeActivityFeed';

const { insertMagicCell, notifyConnection, openRoleMenu, switchRole, notebook } = vi.hoisted(
  () => ({
    switchRole: vi.fn(),
    insertMagicCell: vi.fn(),
    notifyConnection: vi.fn(),
    openRoleMenu: vi.fn(),
    notebook: { current: null as { id: string } | null }
  })
);
vi.mock('../../../src/lab/notebook/insertCell', () => ({
  insertMagicCell,
  notebookForCell: () => notebook.current
}));
vi.mock('../../../src/lab/commands/connectionNotification', () => ({ notifyConnection }));
vi.mock('../../../src/lab/commands/roleMenu', () => ({ openRoleMenu, switchRole }));
vi.mock('../../../src/lab/panel/panel', () => ({ PANEL_ID: 'cowork-panel' }));
vi.mock('../../../src/lab/ui/icon', () => ({ coworkIcon: {} }));

describe('commands', () => {
  let commands: CommandRegistry;
  let model: CoworkModel;
  let place: PanelState;
  let selected: string | null;
  const activateById = vi.fn();

  beforeEach(() => {
    vi.clearAllMocks();
    notebook.current = null;
    commands = new CommandRegistry();
    model = new CoworkModel(
      { request: async <A>() => READY as A, subscribe: () => () => undefined },
      new FakeActivityFeed()
    );
    place = new PanelState();
    selected = null;
    const app = { commands, shell: { activateById } } as unknown as JupyterFrontEnd;
    addCommands(app, { model, place, notebooks: null, selectedFile: () => selected });
  });

  it('have names that people can look for in the palette', () => {
    const shown: string[] = [];
    addToPalette({
      addItem: ({ command, category }: { command: string; category: string }) =>
        shown.push(`${category}: ${commands.label(command)}`)
    } as unknown as ICommandPalette);
    expect(shown).toEqual([
      'Cowork: Show Cowork Panel',
      'Cowork: New Conversation',
      'Cowork: Show What Is Waiting for You',
      'Cowork: Insert a %%plan Cell',
      'Cowork: Insert an %%act Cell',
      'Cowork: Insert an %%ask Cell',
      'Cowork: Choose Role…',
      'Cowork: Check Model Connection',
      'Cowork: Show the Cowork tour',
      'Cowork: Show Cowork shortcuts'
    ]);
  });

  it('show the panel', async () => {
    await commands.execute(CommandIDs.openPanel);
    expect(activateById).toHaveBeenCalledWith('cowork-panel');
  });

  it('begin a conversation, and lead back to what waits', async () => {
    place.open('c1');
    await commands.execute(CommandIDs.newConversation);
    expect(activateById).toHaveBeenCalledWith('cowork-panel');
    expect([place.context, place.focusRequests]).toEqual([null, 1]);
    place.open('c1');
    await commands.execute(CommandIDs.showInbox);
    expect([place.context, place.focusRequests]).toEqual([null, 1]);
  });

  it('write into the field of the panel, behind what stands there', async () => {
    place.open('c1');
    await commands.execute(CommandIDs.compose, { text: '@output:2 ' });
    expect(activateById).toHaveBeenCalledWith('cowork-panel');
    expect([place.context, place.draft, place.focusRequests]).toEqual([null, '@output:2 ', 1]);
    place.write('compare @output:2');
    await commands.execute(CommandIDs.compose, { text: '@output:3 ' });
    expect(place.draft).toBe('compare @output:2 @output:3 ');
  });

  it('plan a change to the one selected file, as the planner', async () => {
    expect(commands.isVisible(CommandIDs.planChange)).toBe(false);
    selected = 'src/a.py';
    expect(commands.isVisible(CommandIDs.planChange)).toBe(true);
    await commands.execute(CommandIDs.planChange);
    expect([place.draft, place.role, place.focusRequests]).toEqual([
      'Plan a change to `src/a.py`: ',
      'planner',
      1
    ]);
    await commands.execute(CommandIDs.setRole, { role: 'actor' });
    expect(place.role).toBeNull();
  });

  it.each([
    [CommandIDs.insertPlan, '%%plan'],
    [CommandIDs.insertAct, '%%act'],
    [CommandIDs.insertAsk, '%%ask']
  ])('%s puts %s into the open notebook, and is off when none is open', async (command, magic) => {
    expect(commands.isEnabled(command)).toBe(false);
    notebook.current = { id: 'nb' };
    expect(commands.isEnabled(command)).toBe(true);
    await commands.execute(command);
    expect(insertMagicCell).toHaveBeenCalledWith(notebook.current, magic, expect.any(Function));
  });

  it('offer the roles with what they do, and mark the chosen one', async () => {
    learnRoles([PLANNER]);
    await commands.execute(CommandIDs.setRole, { role: 'reviewer' });
    expect(model.preferences.role).toBe('reviewer');
    expect(commands.isToggled(CommandIDs.setRole, { role: 'reviewer' })).toBe(true);
    expect(commands.isToggled(CommandIDs.setRole, { role: 'planner' })).toBe(false);
    expect(commands.label(CommandIDs.setRole, { role: 'planner' })).toBe(
      'Planner: As the server describes it.'
    );
  });

  it('switch the role of the conversation in view, and without one that of new ones', async () => {
    await commands.execute(CommandIDs.switchRole, { role: 'tester' });
    expect(model.preferences.role).toBe('tester');
    model.currentConversation.conversation = { id: 'c1', role: 'actor' };
    expect(commands.isToggled(CommandIDs.switchRole, { role: 'actor' })).toBe(true);
    await commands.execute(CommandIDs.switchRole, { role: 'planner' });
    expect(switchRole).toHaveBeenCalledWith(model.currentConversation, 'planner', 'Planner');
    expect(model.preferences.role).toBe('tester');
  });

  it('open the role menu at the status bar, or without it when there is none', async () => {
    await commands.execute(CommandIDs.chooseRole);
    expect(openRoleMenu).toHaveBeenCalledWith(model, commands, null, CommandIDs.switchRole);
  });

  it('check the connection and announce the answer', async () => {
    await commands.execute(CommandIDs.checkConnection);
    const [check] = notifyConnection.mock.calls[0] as [Promise<unknown>];
    await expect(check).resolves.toEqual({ state: 'answered', health: READY });
  });
});
