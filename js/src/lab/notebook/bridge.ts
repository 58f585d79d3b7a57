/** Tells the server which notebooks are open here, and lets it read and change them. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import type { Channel } from '../../shared/channel/channel';
import { sharedSocket, type PageSocket } from '../../shared/channel/pageSocket';
import { ICoworkModel } from '../model/coworkModel';
import { splitAnswer, type Question } from './splitAnswer';
import { isOnServer } from './drives';
import type { CellServer } from './marks';
import { PersonRuns } from './personRuns';
import { staleCells } from './staleness';
import { followSaves } from './typed';

/** Loaded with the first notebook. */
type Operations = typeof import('./operations');

class NotebookBridge {
  private readonly socket: PageSocket;
  private readonly cells: CellServer;
  private readonly personRuns: PersonRuns;
  private operations: Promise<Operations> | null = null;
  private isTelling = false;

  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly tracker: INotebookTracker,
    channel: Channel
  ) {
    this.socket = sharedSocket(app.serviceManager.serverSettings);
    this.cells = {
      decide: (ids, decision) => channel.request('POST', 'cell-changes', { ids, decision }),
      stale: (notebook, cellId) => staleCells(channel, notebook, cellId)
    };
    this.personRuns = new PersonRuns(
      frame => this.socket.send(frame),
      () => this.panels()
    );
    tracker.widgetAdded.connect((_, panel) => this.follow(panel));
    tracker.forEach(panel => this.follow(panel));
    tracker.currentChanged.connect(() => this.tell());
    window.addEventListener('focus', () => this.tell());
    document.addEventListener('visibilitychange', () => this.tell());
  }

  private follow(panel: NotebookPanel): void {
    this.listen();
    this.personRuns.follow(panel);
    void followSaves(panel);
    panel.context.pathChanged.connect(() => this.tell());
    panel.disposed.connect(() => this.tell());
    this.tell();
  }

  /** Called for each notebook; idempotent. */
  private listen(): void {
    if (this.operations === null) {
      this.operations = import('./operations');
      this.socket.listen((frame, answer) => {
        if (frame.type === 'hello') {
          this.tellNow();
        } else if (frame.type === 'question') {
          void this.answer(frame as typeof frame & Question, answer);
        }
      });
    }
  }

  private async answer(question: Question, answer: (frame: object) => void): Promise<void> {
    const { answerTo } = await this.operations!;
    splitAnswer(
      question.id,
      await answerTo(question, this.find(question.path), this.cells)
    ).forEach(answer);
  }

  /** Coalesces several changes in one turn. */
  private tell(): void {
    if (!this.isTelling) {
      this.isTelling = true;
      queueMicrotask(() => {
        this.isTelling = false;
        this.tellNow();
      });
    }
  }

  private tellNow(): void {
    const current = this.tracker.currentWidget;
    const documents = this.panels().map(panel => ({
      path: panel.context.localPath,
      current: panel === current
    }));
    this.socket.send({ type: 'documents', documents, focused: document.hasFocus() });
  }

  /** A notebook may have several views; prefers the current one. */
  private find(path: string): NotebookPanel | undefined {
    const found = this.panels().filter(panel => panel.context.localPath === path);
    return found.find(panel => panel === this.tracker.currentWidget) ?? found[0];
  }

  private panels(): NotebookPanel[] {
    const { contents } = this.app.serviceManager;
    return this.tracker.filter(panel => !panel.isDisposed && isOnServer(contents, panel));
  }
}

export const notebookBridge: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:notebooks',
  description: 'Lets the agent read and change notebooks that are open, where the user sees it.',
  autoStart: true,
  requires: [INotebookTracker, ICoworkModel],
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker, cowork: ICoworkModel) => {
    new NotebookBridge(app, tracker, cowork.channel);
  }
};
