import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { RecordRenderer, WIDGET_MIME } from '../../../src/lab/card/record';

class Drawing extends Widget implements IRenderMime.IRenderer {
  drawn = 0;
  constructor(readonly what: string) {
    super();
  }
  async renderModel(): Promise<void> {
    this.drawn += 1;
    this.node.textContent = this.what;
  }
}

/** A notebook whose kernel knows these widgets. */
class Notebook {
  readonly node = document.createElement('div');
  readonly kernel = {
    status: 'idle',
    asked: 0,
    requestCommInfo: async () => {
      this.kernel.asked += 1;
      return {
        content: { status: 'ok', comms: Object.fromEntries(this.widgets.map(id => [id, {}])) }
      };
    }
  };
  readonly statusChanged = new Signal<this, string>(this);
  readonly sessionContext = {
    ready: Promise.resolve(),
    statusChanged: this.statusChanged,
    session: { kernel: this.kernel }
  };
  readonly made: Drawing[] = [];
  hasIpywidgets = true;
  readonly content = {
    rendermime: {
      getFactory: () => (this.hasIpywidgets ? {} : undefined),
      createRenderer: () => {
        const drawing = new Drawing('the widget');
        this.made.push(drawing);
        return drawing;
      }
    }
  };
  constructor(private readonly widgets: string[]) {}
  asTracker(): INotebookTracker {
    return {
      find: (holds: (panel: Notebook) => boolean) => (holds(this) ? this : undefined)
    } as unknown as INotebookTracker;
  }
}

function output(
  trusted = true,
  data: Record<string, unknown> = { [WIDGET_MIME]: { model_id: 'w1' } }
): IRenderMime.IMimeModel {
  return { data, trusted } as unknown as IRenderMime.IMimeModel;
}

const turn = (): Promise<unknown> => new Promise(resolve => setTimeout(resolve, 0));

describe('a run of a kernel', () => {
  let renderer: RecordRenderer;

  async function show(notebook: Notebook, model = output()): Promise<string> {
    document.body.append(notebook.node);
    renderer = new RecordRenderer(notebook.asTracker(), () => new Drawing('the record'));
    await renderer.renderModel(model);
    Widget.attach(renderer, notebook.node);
    await turn();
    return renderer.node.textContent ?? '';
  }

  beforeEach(() => document.body.replaceChildren());
  afterEach(() => renderer.dispose());

  it('is drawn by its widget while the kernel has it', async () => {
    expect(await show(new Notebook(['w1']))).toBe('the widget');
  });

  it('is drawn as a record when the kernel has forgotten the widget, or never made it', async () => {
    expect(await show(new Notebook(['other']))).toBe('the record');
  });

  it('is drawn as a record where there are no widgets at all', async () => {
    const notebook = new Notebook(['w1']);
    notebook.hasIpywidgets = false;
    expect(await show(notebook)).toBe('the record');
  });

  it('is drawn as a record in a notebook that is not trusted, as a widget is a program', async () => {
    const notebook = new Notebook(['w1']);
    expect(await show(notebook, output(false))).toBe('the record');
    expect(notebook.kernel.asked).toBe(0);
  });

  it('is drawn as a record where the output names no widget', async () => {
    expect(await show(new Notebook(['w1']), output(true, {}))).toBe('the record');
  });

  it('is drawn by its widget while the kernel is busy, most likely with it', async () => {
    const notebook = new Notebook([]);
    notebook.kernel.status = 'busy';
    expect(await show(notebook)).toBe('the widget');
    expect(notebook.kernel.asked).toBe(0);
  });

  it('becomes a record when the kernel is restarted', async () => {
    const notebook = new Notebook(['w1']);
    await show(notebook);
    notebook.statusChanged.emit('restarting');
    await turn();
    expect(renderer.node.textContent).toBe('the record');
    expect(notebook.made[0]?.isDisposed).toBe(true);
  });

  it('does not draw its widget again for news, as somebody may be typing in it', async () => {
    const notebook = new Notebook(['w1']);
    await show(notebook);
    await renderer.renderModel(output());
    await turn();
    expect(notebook.made.map(({ drawn }) => drawn)).toEqual([1]);
  });
});
