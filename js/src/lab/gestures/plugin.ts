import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ICompletionProviderManager } from '@jupyterlab/completer';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import { t } from '../../shared/text/translate';
import { CommandIDs } from '../commands/ids';
import { ICoworkModel, type Preferences } from '../model/coworkModel';
import { coworkIcon } from '../ui/icon';
import { notebookForCell } from '../notebook/insertCell';
import { isOnServer } from '../notebook/drives';
import type { Gestures } from './gestures';
import type { Cell } from './types';

/** Idle milliseconds before the model is asked; configurable in Lab. */
const COMPLETION_DELAY = 300;
const COMPLETION_TIMEOUT = 15_000;

/** A command for the active cell, in palette order. */
interface CellCommand {
  id: string;
  label: () => string;
  preference: keyof Preferences;
  can?: (gestures: Gestures, cell: Cell) => boolean;
  run: (gestures: Gestures, panel: NotebookPanel, cell: Cell) => void | Promise<void>;
}

const CELL_COMMANDS: readonly CellCommand[] = [
  {
    id: CommandIDs.fixCell,
    label: () => t('Fix this Cell'),
    preference: 'fixErrors',
    can: (gestures, cell) => gestures.canFix(cell),
    run: (gestures, panel, cell) => gestures.suggest(panel, cell, 'fix')
  },
  {
    id: CommandIDs.explainError,
    label: () => t('Explain this Error'),
    preference: 'fixErrors',
    can: (gestures, cell) => gestures.canFix(cell),
    run: (gestures, panel, cell) => gestures.suggest(panel, cell, 'explain')
  },
  {
    id: CommandIDs.cellPrompt,
    label: () => t('Ask Cowork to Write or Change this Cell…'),
    preference: 'cellPrompt',
    run: (gestures, panel, cell) => gestures.suggest(panel, cell, 'prompt')
  },
  {
    id: CommandIDs.nextCell,
    label: () => t('Suggest the Next Cell'),
    preference: 'cellPrompt',
    run: (gestures, panel, cell) => gestures.nextCell(panel, cell)
  },
  {
    id: CommandIDs.askOutput,
    label: () => t('Ask about this Output'),
    preference: 'askOutputs',
    can: (gestures, cell) => gestures.canAskAbout(cell),
    run: (gestures, panel, cell) => gestures.askAbout(panel, cell)
  },
  {
    id: CommandIDs.runDependents,
    label: () => t('Run What Depends on This'),
    preference: 'staleMarks',
    can: (_, cell) => cell.model.type === 'code',
    run: (gestures, panel, cell) => gestures.runDependents(panel, cell)
  }
];

/** Registers the commands; their code is loaded with the first notebook. */
export const gestures: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:gestures',
  description: 'Fix, explain, ask, write and complete right in the cells of a notebook.',
  autoStart: true,
  requires: [INotebookTracker, ICoworkModel],
  optional: [ICommandPalette, ICompletionProviderManager],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    cowork: ICoworkModel,
    palette: ICommandPalette | null,
    completers: ICompletionProviderManager | null
  ) => {
    const { contents, serverSettings } = app.serviceManager;
    let loading: Promise<Gestures> | null = null;
    let loaded: Gestures | null = null;
    const load = (): Promise<Gestures> =>
      (loading ??= import('./gestures').then(
        ({ Gestures }) =>
          (loaded = new Gestures({
            channel: cowork.channel,
            serverSettings,
            preferences: () => cowork.preferences,
            compose: text => void app.commands.execute(CommandIDs.compose, { text })
          }))
      ));
    const follow = async (panel: NotebookPanel): Promise<void> => {
      await panel.context.ready;
      if (isOnServer(contents, panel)) {
        (await load()).follow(panel);
      }
    };
    tracker.widgetAdded.connect((_, panel) => void follow(panel));
    tracker.forEach(panel => void follow(panel));
    cowork.changed.connect(() => loaded?.refresh());

    for (const { id, label, preference, can, run } of CELL_COMMANDS) {
      const isOn = (): boolean => {
        const cell = notebookForCell(tracker)?.content.activeCell ?? null;
        return (
          cowork.preferences[preference] === true &&
          cell !== null &&
          (can === undefined || (loaded !== null && can(loaded, cell)))
        );
      };
      app.commands.addCommand(id, {
        label,
        icon: args => (args['isPalette'] === true ? undefined : coworkIcon),
        isEnabled: isOn,
        isVisible: isOn,
        execute: async () => {
          const panel = notebookForCell(tracker);
          const cell = panel?.content.activeCell;
          if (panel && cell && isOn()) {
            await cell.ready;
            await run(await load(), panel, cell);
          }
        }
      });
      palette?.addItem({ command: id, category: t('Cowork'), args: { isPalette: true } });
    }

    completers?.registerInlineProvider({
      name: t('Cowork'),
      identifier: 'cowork-jupyter:inline-completion',
      icon: coworkIcon,
      schema: { default: { debouncerDelay: COMPLETION_DELAY, timeout: COMPLETION_TIMEOUT } },
      fetch: async (request, context) => {
        const text = cowork.preferences.inlineCompletion
          ? await (await load()).completion.fetch(request, context)
          : '';
        return { items: text ? [{ insertText: text }] : [] };
      }
    });
  }
};
