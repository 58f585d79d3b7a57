/** Mime renderer of cards in Lab and Notebook 7; cards outlive the kernel that made them. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISessionContextDialogs } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry, type IRenderMime } from '@jupyterlab/rendermime';
import type { Contents } from '@jupyterlab/services';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { render } from 'preact';

import { CardView } from '../../shared/card/CardView';
import { CoworkError, isRecord, type Channel } from '../../shared/channel/channel';
import { HostProvider, type CardHost } from '../../shared/card/host';
import type { CardData } from '../../shared/types';
import { t } from '../../shared/text/translate';
import { hostOf, type Part } from '../part';
import { labMarkdown } from './markdown';
import { RecordRenderer } from './record';
import { restartAt } from './restart';
import { SavedCard } from './saving';
import { CommandIDs } from '../commands/ids';
import { ICoworkModel } from '../model/coworkModel';
import { forwardGlobalKeys, captureCardKeys } from '../ui/keyboard';
import { drawnBy } from './HostText';
import { insertBelow } from '../notebook/insertCell';
import { isOnServer } from '../notebook/drives';
import { showCell } from '../notebook/showCell';

/** A run hosted by the server, which any page can load. */
export const CARD_MIME = 'application/vnd.cowork.card+json';
/** A run in a kernel, or a status: its widget shows it while the kernel lives, this afterwards. */
export const RECORD_MIME = 'application/vnd.cowork.record+json';

/** Widgets have rank −10; lower wins. */
const BEFORE_WIDGETS = -20;

export class CardRenderer extends Widget implements IRenderMime.IRenderer {
  private model: IRenderMime.IMimeModel | null = null;
  private readonly saving: SavedCard;

  constructor(
    private readonly mimeType: string,
    private readonly channel: Channel,
    private readonly host: CardHost,
    /** Host functions of the surrounding notebook; missing if there is none. */
    private readonly around?: (node: HTMLElement) => CardHost
  ) {
    super();
    this.addClass('cowork-root');
    forwardGlobalKeys(this.node);
    captureCardKeys(this.node);
    this.saving = new SavedCard(channel, mimeType, () => this.model);
  }

  /** Called on each output change; keeps the rendered state. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.model = model;
    if (this.around === undefined || this.isAttached) {
      this.draw(model);
    }
    this.saving.updated();
  }

  /** Only an attached node knows its notebook, and thus whether it is a copy. */
  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.model !== null) {
      this.draw(this.model);
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.model = null;
      this.saving.dispose();
      render(null, this.node);
    }
    super.dispose();
  }

  private draw(model: IRenderMime.IMimeModel): void {
    const card: unknown = model.data[this.mimeType];
    const view = isCard(card) ? (
      <HostProvider value={{ ...this.host, ...this.around?.(this.node) }}>
        <CardView
          card={card}
          channel={this.channel}
          onChange={store => this.saving.changed(store)}
        />
      </HostProvider>
    ) : (
      <p class="cw-text">{t('This card cannot be read.')}</p>
    );
    render(view, this.node);
  }
}

function isCard(card: unknown): card is CardData {
  if (!isRecord(card) || typeof card['kind'] !== 'string') {
    return false;
  }
  return (
    card['kind'] !== 'run' ||
    (typeof card['job_id'] === 'string' &&
      typeof card['context_id'] === 'string' &&
      isRecord(card['snapshot']))
  );
}

/** Which model was ready is not kept, as it may be another by now; the text beside it says it. */
function isStatus(card: unknown): boolean {
  return isRecord(card) && card['kind'] === 'status';
}

function aroundCard(
  notebooks: INotebookTracker,
  contents: Contents.IManager,
  dialogs: ISessionContextDialogs | null
): (node: HTMLElement) => CardHost {
  const restart = dialogs === null ? () => undefined : restartAt(notebooks, dialogs);
  return node => {
    const panel = notebooks.find(one => one.node.contains(node));
    const isOfServer = panel !== undefined && isOnServer(contents, panel);
    const [restartAndRunToHere, insertCell] = [restart(node), insertBelow(notebooks, node)];
    return {
      ...(restartAndRunToHere ? { restartAndRunToHere } : {}),
      ...(insertCell ? { insertCell } : {}),
      ...(panel ? { showCell: (id: string) => showCell(panel.content, id) } : {}),
      ...(isOfServer ? { notebook: () => panel.context.localPath } : {})
    };
  };
}

/** Knows no run, so that every card renders as a record. */
export const NOBODY: Channel = {
  request: () =>
    Promise.reject(
      new CoworkError({ code: 'not_found', message: t('This run is not known here.'), status: 404 })
    ),
  subscribe: () => () => undefined
};

export const cards = (parts: readonly Part[]): JupyterFrontEndPlugin<void> => ({
  id: 'cowork-jupyter:cards',
  description: 'Draws the inline cards of Cowork in notebooks.',
  autoStart: true,
  requires: [ICoworkModel, IRenderMimeRegistry],
  optional: [INotebookTracker, ISessionContextDialogs],
  activate: (
    app: JupyterFrontEnd,
    cowork: ICoworkModel,
    rendermime: IRenderMimeRegistry,
    notebooks: INotebookTracker | null,
    dialogs: ISessionContextDialogs | null
  ) => {
    const host: CardHost = {
      Markdown: drawnBy(labMarkdown(rendermime)),
      ...hostOf(parts),
      openConversation: context => void app.commands.execute(CommandIDs.openPanel, { context }),
      allows: what => cowork.preferences[what]
    };
    const around =
      notebooks === null ? undefined : aroundCard(notebooks, app.serviceManager.contents, dialogs);
    // Safe: text is rendered as text, and actions rely on the server's data, not on the notebook's.
    const add = (mimeType: string, createRenderer: () => IRenderMime.IRenderer): void =>
      rendermime.addFactory({ safe: true, mimeTypes: [mimeType], createRenderer }, BEFORE_WIDGETS);
    add(CARD_MIME, () => new CardRenderer(CARD_MIME, cowork.channel, host, around));
    const makeRecord = (model: IRenderMime.IMimeModel): IRenderMime.IRenderer =>
      isStatus(model.data[RECORD_MIME])
        ? rendermime.createRenderer('text/markdown')
        : new CardRenderer(RECORD_MIME, NOBODY, host, around);
    add(RECORD_MIME, () => new RecordRenderer(notebooks, makeRecord));
  }
});
