/** The list of shortcuts, with the user's current key bindings. */

import { Dialog, showDialog } from '@jupyterlab/apputils';
import { CommandRegistry } from '@lumino/commands';
import type { VNode } from 'preact';

import { t } from '../../shared/text/translate';
import { PreactWidget } from '../ui/preactWidget';

export interface Shortcut {
  label: string;
  /** Formatted for display, such as `Ctrl+;`. */
  keys: readonly string[];
}

/** Sorted by label. */
export function commandShortcuts(commands: CommandRegistry): Shortcut[] {
  const found = new Map<string, Set<string>>();
  for (const { command, args, keys } of commands.keyBindings) {
    if (command.startsWith('cowork:') && commands.hasCommand(command)) {
      const label = commands.label(command, args);
      const all = found.get(label) ?? new Set();
      found.set(label, all.add(CommandRegistry.formatKeystroke(keys)));
    }
  }
  return [...found]
    .map(([label, keys]) => ({ label, keys: [...keys] }))
    .sort((one, other) => one.label.localeCompare(other.label));
}

/** Shortcuts that depend on the focus and cannot be changed. */
function fixedShortcuts(): Shortcut[] {
  const key = (...strokes: string[]): string => CommandRegistry.formatKeystroke(strokes);
  return [
    { label: t('Send what you wrote'), keys: [key('Enter')] },
    { label: t('Add a line'), keys: [key('Shift Enter')] },
    { label: t('Rename the conversation'), keys: ['F2'] },
    { label: t('Move a step of the plan'), keys: [key('Alt ArrowUp'), key('Alt ArrowDown')] },
    { label: t('Go from a card to its cell; skip the tour'), keys: [key('Escape')] },
    { label: t('Show this list, in the panel'), keys: ['?'] }
  ];
}

function ShortcutTable({ title, shortcuts }: { title: string; shortcuts: Shortcut[] }): VNode {
  return (
    <table class="cw-shortcuts">
      <caption>{title}</caption>
      <tbody>
        {shortcuts.map(({ label, keys }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td>
              {keys.map((one, at) => (
                <>
                  {at > 0 && ' '}
                  <kbd>{one}</kbd>
                </>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

class ShortcutList extends PreactWidget {
  constructor(private readonly commands: CommandRegistry) {
    super();
    this.node.tabIndex = 0; // a list longer than the window is scrolled with the arrow keys
  }

  protected view(): VNode {
    return (
      <>
        <ShortcutTable title={t('In JupyterLab')} shortcuts={commandShortcuts(this.commands)} />
        <ShortcutTable title={t('In the panel and on cards')} shortcuts={fixedShortcuts()} />
        <p class="cw-dim">
          {t('To change them, open Settings → Settings Editor → Keyboard Shortcuts.')}
        </p>
      </>
    );
  }
}

export async function showShortcuts(commands: CommandRegistry): Promise<void> {
  await showDialog({
    title: t('Cowork shortcuts'),
    body: new ShortcutList(commands),
    buttons: [Dialog.okButton({ label: t('Close') })]
  });
}
