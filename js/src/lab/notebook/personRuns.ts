/**
 * Tells the server which cells a person runs here, because only those can approve something. Cells
 * run by an agent do not go through Lab's actions (see `running.ts`), and what kernel code claims
 * does not count.
 */

import { NotebookActions, type Notebook, type NotebookPanel } from '@jupyterlab/notebook';

import type { Cell } from './cellCommands';

const USES_COWORK = /^\s*%%(?:plan|act|ask)\b|%cowork\b|\.execute\(\)/;
/** Server limit; a longer cell has to be approved on its card. */
const MAX_TEXT = 1_000_000;
const GONE: readonly string[] = ['restarting', 'autorestarting', 'terminating', 'dead'];

export class PersonRuns {
  private readonly running = new Set<Cell['model']>();

  constructor(
    private readonly send: (frame: object) => void,
    private readonly panels: () => NotebookPanel[]
  ) {
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) =>
      this.started(notebook, cell)
    );
    NotebookActions.executed.connect((_, { notebook, cell }) => this.ended(notebook, cell));
  }

  /** A cell whose kernel dies does not end like others. */
  follow({ sessionContext, context }: NotebookPanel): void {
    sessionContext.statusChanged.connect((_, status) => {
      if (GONE.includes(status)) {
        this.send({ type: 'cell-ended', path: context.localPath });
      }
    });
  }

  private started(notebook: Notebook, { model }: Cell): void {
    const path = this.pathOf(notebook);
    const { source } = model.sharedModel;
    if (path !== undefined && USES_COWORK.test(source) && source.length <= MAX_TEXT) {
      this.running.add(model);
      this.send({ type: 'cell-started', path, cell_id: model.id, source });
    }
  }

  private ended(notebook: Notebook, { model }: Cell): void {
    if (this.running.delete(model)) {
      this.send({ type: 'cell-ended', path: this.pathOf(notebook) ?? '', cell_id: model.id });
    }
  }

  private pathOf(notebook: Notebook): string | undefined {
    return this.panels().find(panel => panel.content === notebook)?.context.localPath;
  }
}
