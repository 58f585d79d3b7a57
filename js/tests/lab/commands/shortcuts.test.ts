import { CommandRegistry } from '@lumino/commands';
import { describe, expect, it, vi } from 'vitest';

vi.mock('@jupyterlab/apputils', () => ({ Dialog: {}, showDialog: vi.fn() }));

import { commandShortcuts } from '../../../src/lab/commands/shortcuts';

describe('the list of shortcuts', () => {
  it('has the keys of our commands as they are now, and no others', () => {
    const commands = new CommandRegistry();
    const add = (command: string, label: string, ...keys: string[]): void => {
      if (!commands.hasCommand(command)) {
        commands.addCommand(command, { label, execute: () => undefined });
      }
      commands.addKeyBinding({ command, keys, selector: 'body' });
    };
    add('cowork:b', 'Plan', 'Alt P');
    add('cowork:a', 'Ask', 'Alt A');
    add('cowork:a', 'Ask', 'Alt Q', 'X');
    add('cowork:a', 'Ask', 'Alt A');
    add('notebook:run', 'Run', 'Alt R');
    commands.addKeyBinding({ command: 'cowork:gone', keys: ['Alt G'], selector: 'body' });
    expect(commandShortcuts(commands)).toEqual([
      { label: 'Ask', keys: ['Alt+A', 'Alt+Q, X'] },
      { label: 'Plan', keys: ['Alt+P'] }
    ]);
  });
});
