import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

vi.mock('@jupyterlab/rendermime', () => ({ IRenderMimeRegistry: {} }));
vi.mock('@jupyterlab/apputils', () => ({ ISessionContextDialogs: {} }));
vi.mock('@jupyterlab/notebook', () => ({ INotebookTracker: {} }));

import type { IRenderMime } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';

import {
  CARD_MIME,
  CardRenderer,
  cards,
  NOBODY,
  RECORD_MIME
} from '../../../src/lab/card/renderer';
import { WIDGET_MIME } from '../../../src/lab/card/record';
import { hardenSanitizer, htmlAsText } from '../../../src/lab/card/markdown';
import type { RunCardData } from '../../../src/shared/types';
import { event, FakeServer, planned, runCard, settled } from '../../runs';

class FakeOutput {
  writes = 0;
  constructor(public data: Record<string, unknown>) {}
  setData({ data }: { data: Record<string, unknown> }): void {
    this.data = data;
    this.writes += 1;
  }
  asModel(): IRenderMime.IMimeModel {
    return this as unknown as IRenderMime.IMimeModel;
  }
}

const drawn: CardRenderer[] = [];

async function show(
  card: unknown,
  channel = new FakeServer(card as RunCardData)
): Promise<{ renderer: CardRenderer; output: FakeOutput; channel: FakeServer }> {
  const renderer = new CardRenderer(CARD_MIME, channel, {});
  drawn.push(renderer);
  const output = new FakeOutput({
    [CARD_MIME]: card,
    'text/markdown': 'old',
    'application/vnd.jupyter.widget-view+json': {}
  });
  await renderer.renderModel(output.asModel());
  await settled();
  return { renderer, output, channel };
}

afterEach(() => drawn.splice(0).forEach(renderer => renderer.dispose()));

describe('the mime renderer', () => {
  it('goes before widgets, in notebooks that are not trusted too', () => {
    const added: { types: readonly string[]; rank: number; safe: boolean }[] = [];
    const rendermime = {
      addFactory: ({ mimeTypes, safe }: IRenderMime.IRendererFactory, rank: number) =>
        added.push({ types: mimeTypes, rank, safe })
    };
    void cards([]).activate(
      {} as never,
      { channel: new FakeServer() } as never,
      rendermime as never,
      null as never
    );
    const WIDGETS = -10;
    expect(added.map(({ types, safe }) => [types, safe])).toEqual([
      [[CARD_MIME], true],
      [[RECORD_MIME], true]
    ]);
    expect(Math.max(...added.map(({ rank }) => rank))).toBeLessThan(WIDGETS);
  });

  it('draws a live card', async () => {
    const { renderer } = await show(planned());
    expect(renderer.node.textContent).toContain('Execute plan');
  });

  it('goes on where it was when the output changes, without opening the run anew', async () => {
    const { renderer, output, channel } = await show(planned());
    await renderer.renderModel(
      new FakeOutput({ ...output.data, [CARD_MIME]: planned() }).asModel()
    );
    await settled();
    expect(channel.subscriptions).toBe(1);
  });

  it.each([
    null,
    'text',
    5,
    {},
    { kind: 'run' },
    { kind: 'run', job_id: 'j', context_id: 'c', snapshot: null }
  ])('says so of a card that is none: %j', async card => {
    const { renderer } = await show(card, new FakeServer());
    expect(renderer.node.textContent).toContain('This card cannot be read.');
  });

  it('draws a run of a kernel as a record, and asks nobody', async () => {
    const renderer = new CardRenderer(RECORD_MIME, NOBODY, {});
    drawn.push(renderer);
    await renderer.renderModel(new FakeOutput({ [RECORD_MIME]: planned() }).asModel());
    await settled();
    expect(renderer.node.textContent).toContain('not live here');
  });

  it('asks how the run stands once it is seen in which notebook it is', async () => {
    const channel = new FakeServer(planned());
    channel.copiedFrom = 'sales.ipynb';
    const renderer = new CardRenderer(CARD_MIME, channel, {}, () => ({
      notebook: () => 'copy.ipynb'
    }));
    drawn.push(renderer);
    await renderer.renderModel(new FakeOutput({ [CARD_MIME]: planned() }).asModel());
    await settled();
    expect(channel.asked).toEqual([]);
    Widget.attach(renderer, document.body);
    await settled();
    expect(channel.asked.map(({ path }) => path)).toEqual([
      'jobs/j1/card?whole=true&notebook=copy.ipynb'
    ]);
    expect(renderer.node.textContent).toContain(
      'A record, copied from sales.ipynb. Run the cell to start over.'
    );
    expect(renderer.node.textContent).not.toContain('Execute plan');
  });

  it('stops listening when its output is cleared', async () => {
    const { renderer, channel } = await show(planned());
    renderer.dispose();
    expect(channel.listener).toBeNull();
  });
});

describe('what the notebook keeps', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
  afterEach(() => void vi.useRealTimers());

  async function running(): Promise<Awaited<ReturnType<typeof show>>> {
    const card = runCard({ status: 'running', ended_at: null });
    const channel = new FakeServer(card);
    const renderer = new CardRenderer(CARD_MIME, channel, {});
    drawn.push(renderer);
    const output = new FakeOutput({
      [CARD_MIME]: card,
      'text/markdown': 'old',
      'text/html': 'other',
      [WIDGET_MIME]: {}
    });
    await renderer.renderModel(output.asModel());
    await vi.advanceTimersByTimeAsync(1000);
    return { renderer, output, channel };
  }

  function end(channel: FakeServer): void {
    const card = runCard({ seq: 11 });
    channel.answers.set('GET jobs/j1/card', { card, markdown: '**done**', text: 'done' });
    channel.listener?.event(event(11, 'job-completed', { job_id: 'j1', status: 'completed' }));
  }

  it('is brought up to date soon after the end, once, beside what else is in the output', async () => {
    const { output, channel } = await running();
    end(channel);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(output.writes).toBe(1);
    expect(output.data).toMatchObject({
      'text/markdown': '**done**',
      'text/plain': 'done',
      'text/html': 'other'
    });
    expect((output.data[CARD_MIME] as RunCardData).snapshot.status).toBe('completed');
  });

  it('has no widget once the run has ended, so that a Lab without us shows the Markdown', async () => {
    const { renderer, output, channel } = await running();
    expect(output.data).toHaveProperty([WIDGET_MIME]);
    end(channel);
    await vi.advanceTimersByTimeAsync(1000);
    expect(output.data).not.toHaveProperty([WIDGET_MIME]);

    output.data = { ...output.data, [WIDGET_MIME]: {} }; // as a cell that waits puts it out again
    await renderer.renderModel(output.asModel());
    await vi.advanceTimersByTimeAsync(1000);
    expect(output.data).not.toHaveProperty([WIDGET_MIME]);
  });

  async function ended(card: RunCardData): Promise<FakeOutput> {
    const channel = new FakeServer(card);
    channel.answers.set('GET jobs/j1/card', { card: runCard(), markdown: 'x' });
    const renderer = new CardRenderer(CARD_MIME, channel, {});
    drawn.push(renderer);
    const output = new FakeOutput({ [CARD_MIME]: card, 'text/markdown': 'old', [WIDGET_MIME]: {} });
    await renderer.renderModel(output.asModel());
    await vi.advanceTimersByTimeAsync(60_000);
    return output;
  }

  it('keeps an old widget when the notebook is only opened', async () => {
    expect((await ended(runCard())).writes).toBe(0);
  });

  it('has no widget in a cell that was run again and offers its earlier run', async () => {
    const { data, writes } = await ended({ ...runCard(), again: { content: 'a', role: 'actor' } });
    expect(Object.keys(data)).toEqual([CARD_MIME, 'text/markdown']);
    expect(data[CARD_MIME]).toHaveProperty('again');
    expect([data['text/markdown'], writes]).toEqual(['old', 1]);
  });

  it('is not touched when nothing has happened, so that opening a notebook does not change it', async () => {
    const { output } = await running();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(output.writes).toBe(0);
  });

  it('is not written for a difference in the hour only', async () => {
    const { output, channel } = await running();
    end(channel);
    channel.answers.set('GET jobs/j1/card', {
      card: { ...runCard({ status: 'running', ended_at: null }), saved_at: 'later' },
      markdown: 'x'
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(output.writes).toBe(0);
  });

  it('is left to the tab that is looked at', async () => {
    const { output, channel } = await running();
    const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
    end(channel);
    await vi.advanceTimersByTimeAsync(5000);
    expect(output.writes).toBe(0);
    visibility.mockReturnValue('visible');
    await vi.advanceTimersByTimeAsync(5000);
    expect(output.writes).toBe(1);
  });

  it('keeps what a cell that was run again offers, until the user takes it up', async () => {
    const card = runCard();
    const channel = new FakeServer(card);
    const renderer = new CardRenderer(CARD_MIME, channel, {});
    drawn.push(renderer);
    const output = new FakeOutput({
      [CARD_MIME]: { ...card, again: { content: 'Clean it', role: 'planner' } }
    });
    const kept = (): unknown => (output.data[CARD_MIME] as RunCardData).again;
    await renderer.renderModel(output.asModel());
    await vi.advanceTimersByTimeAsync(1000);
    channel.listener?.event(event(11, 'job-completed', { job_id: 'j1', status: 'completed' }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kept()).toBeDefined();

    channel.answers.set(`POST context/${card.context_id}/messages`, { job_id: 'j2' });
    [...renderer.node.querySelectorAll('button')]
      .find(one => one.textContent === 'Run again')!
      .click();
    await vi.advanceTimersByTimeAsync(1000);
    channel.listener?.event(
      event(12, 'job-completed', { job_id: 'j2', status: 'completed' }, { job_id: 'j2' })
    );
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kept()).toBeUndefined();
  });

  it('is not written after its output was cleared', async () => {
    const { renderer, output, channel } = await running();
    end(channel);
    await vi.advanceTimersByTimeAsync(300);
    renderer.dispose();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(output.writes).toBe(0);
  });
});

describe('Markdown by Lab', () => {
  const sanitize = hardenSanitizer({ sanitize: (dirty: string) => dirty }).sanitize;

  it('turns pictures from elsewhere into links, as drawing one would call its address', () => {
    expect(sanitize('<img src="https://evil.example/?s" alt="see">')).toBe(
      '<a href="https://evil.example/?s" rel="noopener noreferrer" target="_blank">see</a>'
    );
    expect(sanitize('<img src="x" srcset="https://evil.example 2x">')).not.toContain('srcset');
    expect(sanitize('<video src="https://evil.example"></video>')).not.toContain('<video');
  });

  it('keeps the diagrams that Lab has drawn', () => {
    expect(sanitize('<img src="data:image/svg+xml,%3Csvg%3E">')).toContain(
      '<img src="data:image/svg+xml'
    );
  });

  it('takes away what could cover a button or run a command of Lab', () => {
    expect(
      sanitize('<p style="position:fixed" data-commandlinker-command="x" class="c">a</p>')
    ).toBe('<p class="c">a</p>');
  });

  it('leaves nothing to press, and nothing that looks like ours', () => {
    const forged =
      '<form><button class="cw-button cw-go mine"><b>Execute plan</b></button></form><p ' +
      'class="cw-card x">Plan ready</p>';
    expect(sanitize(forged)).toBe('<b>Execute plan</b><p class="x">Plan ready</p>');
    expect(sanitize('<li><input type="checkbox" checked disabled> done</li>')).toBe(
      '<li>☑  done</li>'
    );
  });

  it.each([
    ['a <b>c</b>', 'a &lt;b>c&lt;/b>'],
    ['`<b>` and <i>', '`<b>` and &lt;i>'],
    ['```\n<b>\n```\n<i>', '```\n<b>\n```\n&lt;i>'],
    ['1 < 2', '1 &lt; 2']
  ])('shows the HTML in %j as it was written', (source, shown) => {
    expect(htmlAsText(source)).toBe(shown);
  });
});
