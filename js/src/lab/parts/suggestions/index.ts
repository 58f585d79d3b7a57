import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ICompletionProviderManager } from '@jupyterlab/completer';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import { t } from '../../../shared/text/translate';
import { CommandIDs } from '../../commands/ids';
import { ICoworkModel, type Preferences } from '../../model/coworkModel';
import { addCellCommand, followNotebooks, type Cell } from '../../notebook/cellCommands';
import type { Part } from '../../part';
import { coworkIcon } from '../../ui/icon';
import type { Gestures } from './gestures';

/** Idle milliseconds before the model is asked; configurable in Lab. */
const COMPLETION_DELAY = 300;
const COMPLETION_TIMEOUT = 15_000;

/** A command for the active cell. */
interface GestureCommand {
  id: string;
  label: () => string;
  preference: keyof Preferences;
  can?: (gestures: Gestures, cell: Cell) => boolean;
  run: (gestures: Gestures, panel: NotebookPanel, cell: Cell) => void;
}

const COMMANDS: readonly GestureCommand[] = [
  {
    id: 'cowork:fix-cell',
    label: () => t('Fix this Cell'),
    preference: 'fixErrors',
    can: (gestures, cell) => gestures.canFix(cell),
    run: (gestures, panel, cell) => gestures.suggest(panel, cell, 'fix')
  },
  {
    id: 'cowork:explain-error',
    label: () => t('Explain this Error'),
    preference: 'fixErrors',
    can: (gestures, cell) => gestures.canFix(cell),
    run: (gestures, panel, cell) => gestures.suggest(panel, cell, 'explain')
  },
  {
    id: 'cowork:cell-prompt',
    label: () => t('Ask Cowork to Write or Change this Cell…'),
    preference: 'cellPrompt',
    run: (gestures, panel, cell) => gestures.suggest(panel, cell, 'prompt')
  },
  {
    id: 'cowork:next-cell',
    label: () => t('Suggest the Next Cell'),
    preference: 'cellPrompt',
    run: (gestures, panel, cell) => gestures.nextCell(panel, cell)
  },
  {
    id: 'cowork:ask-output',
    label: () => t('Ask about this Output'),
    preference: 'askOutputs',
    can: (gestures, cell) => gestures.canAskAbout(cell),
    run: (gestures, panel, cell) => gestures.askAbout(panel, cell)
  }
];

/** Registers the commands; their code is loaded with the first notebook. */
const gestures: JupyterFrontEndPlugin<void> = {
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
    const { serverSettings } = app.serviceManager;
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
    followNotebooks(app, tracker, async panel => (await load()).follow(panel));
    cowork.changed.connect(() => loaded?.refresh());
    for (const { can, run, ...command } of COMMANDS) {
      addCellCommand(app, tracker, cowork, palette, {
        ...command,
        ...(can ? { can: cell => loaded !== null && can(loaded, cell) } : {}),
        run: async (panel, cell) => run(await load(), panel, cell)
      });
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

/** What an agent suggests for a cell. */
export const suggestions: Part = { plugins: [gestures] };
