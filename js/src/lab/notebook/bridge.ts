/** Tells the server which notebooks this page has open, and lets it read and change them here. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import type { Channel } from '../../shared/channel';
import { ICoworkModel } from '../coworkModel';
import type { Decide } from './marks';
import { answerTo } from './operations';
import { TabSocket, tabUrl } from './socket';

/** Documents of other drives are not files of this server; those of real-time collaboration are. */
const DRIVES = ['', 'RTC'];

export class NotebookBridge {
  private readonly socket: TabSocket;
  private isTelling = false;

  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly tracker: INotebookTracker,
    channel: Channel
  ) {
    const { wsUrl, token } = app.serviceManager.serverSettings;
    const decide: Decide = (ids, decision) => channel.request('POST', 'cell-changes', { ids, decision });
    this.socket = new TabSocket(
      tabUrl(wsUrl, token),
      question => answerTo(question, this.find(question.path), decide),
      () => this.tellNow()
    );
    tracker.widgetAdded.connect((_, panel) => this.follow(panel));
    tracker.forEach(panel => this.follow(panel));
    tracker.currentChanged.connect(() => this.tell());
    window.addEventListener('focus', () => this.tell());
    document.addEventListener('visibilitychange', () => this.tell());
  }

  private follow(panel: NotebookPanel): void {
    this.socket.start();
    panel.context.pathChanged.connect(() => this.tell());
    panel.disposed.connect(() => this.tell());
    this.tell();
  }

  /** Several changes in one turn are told once. */
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
    const documents = this.panels().map(panel => ({ path: panel.context.localPath, current: panel === current }));
    this.socket.send({ documents, focused: document.hasFocus() });
  }

  /** A notebook may have several views; the one that the user is in goes first. */
  private find(path: string): NotebookPanel | undefined {
    const found = this.panels().filter(panel => panel.context.localPath === path);
    return found.find(panel => panel === this.tracker.currentWidget) ?? found[0];
  }

  private panels(): NotebookPanel[] {
    const { contents } = this.app.serviceManager;
    return this.tracker.filter(panel => !panel.isDisposed && DRIVES.includes(contents.driveName(panel.context.path)));
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
