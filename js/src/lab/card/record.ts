/**
 * What lives in a kernel: rendered by its widget while that kernel has it, else from the saved
 * record.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime';
import type { Message } from '@lumino/messaging';
import { PanelLayout, Widget } from '@lumino/widgets';

import { isRecord } from '../../shared/channel/channel';

export const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';

/** After these the kernel has lost all its widgets. */
const KERNEL_LOST = ['restarting', 'autorestarting', 'terminating', 'dead'];

/**
 * Lab alone would always choose the widget, and show an error where it is gone: in every notebook
 * run by another program, and after each restart.
 */
export class RecordRenderer extends Widget implements IRenderMime.IRenderer {
  private model: IRenderMime.IMimeModel | null = null;
  private panel: NotebookPanel | null = null;
  private inner: { widgetId: string | null; renderer: IRenderMime.IRenderer } | null = null;

  constructor(
    private readonly notebooks: INotebookTracker | null,
    private readonly makeRecord: (model: IRenderMime.IMimeModel) => IRenderMime.IRenderer
  ) {
    super();
    this.layout = new PanelLayout();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.model = model;
    if (this.isAttached) {
      await this.draw();
    }
  }

  override dispose(): void {
    this.leavePanel();
    super.dispose();
  }

  /** Only an attached node knows its notebook, and thus its kernel. */
  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.panel = this.notebooks?.find(panel => panel.node.contains(this.node)) ?? null;
    this.panel?.sessionContext.statusChanged.connect(this.onStatus, this);
    void this.draw();
  }

  protected override onBeforeDetach(message: Message): void {
    this.leavePanel();
    super.onBeforeDetach(message);
  }

  private leavePanel(): void {
    this.panel?.sessionContext.statusChanged.disconnect(this.onStatus, this);
    this.panel = null;
  }

  private onStatus(_sender: unknown, status: string): void {
    if (KERNEL_LOST.includes(status)) {
      void this.drawAs(null);
    }
  }

  private async draw(): Promise<void> {
    const widgetId = this.model?.trusted ? widgetIn(this.model) : null;
    const lives =
      widgetId !== null && this.panel !== null && (await hasWidget(this.panel, widgetId));
    await this.drawAs(lives ? widgetId : null);
  }

  private async drawAs(widgetId: string | null): Promise<void> {
    if (this.isDisposed || this.model === null) {
      return;
    }
    if (this.inner?.widgetId === widgetId) {
      // A widget updates itself; rendering it again would lose what is being typed.
      return widgetId === null ? this.inner.renderer.renderModel(this.model) : undefined;
    }
    this.inner?.renderer.dispose();
    const ofWidgets = this.panel?.content.rendermime;
    const renderer =
      widgetId !== null && ofWidgets
        ? ofWidgets.createRenderer(WIDGET_MIME)
        : this.makeRecord(this.model);
    this.inner = { widgetId, renderer };
    (this.layout as PanelLayout).addWidget(renderer);
    await renderer.renderModel(this.model);
  }
}

function widgetIn(model: IRenderMime.IMimeModel): string | null {
  const view: unknown = model.data[WIDGET_MIME];
  return isRecord(view) && typeof view['model_id'] === 'string' && view['model_id'] !== ''
    ? view['model_id']
    : null;
}

/**
 * Whether the kernel has the widget. A busy kernel cannot answer: then it is most likely running
 * this cell, so yes.
 */
async function hasWidget(panel: NotebookPanel, id: string): Promise<boolean> {
  if (panel.content.rendermime.getFactory(WIDGET_MIME) === undefined) {
    return false;
  }
  await panel.sessionContext.ready;
  const kernel = panel.sessionContext.session?.kernel;
  if (!kernel || KERNEL_LOST.includes(kernel.status)) {
    return false;
  }
  if (kernel.status === 'busy') {
    return true;
  }
  const { content } = await kernel.requestCommInfo({ target_name: 'jupyter.widget' });
  return content.status === 'ok' && id in content.comms;
}
