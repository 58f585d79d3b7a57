/** Backend of Lab's inline completer. */

import type { CompletionHandler, IInlineCompletionContext } from '@jupyterlab/completer';
import { NotebookPanel } from '@jupyterlab/notebook';

import { isOurs, isPrivate, requestFor } from './request';
import type { SuggestionServer } from './suggestion';

const MAX_CACHED = 50;

export class Completion {
  private readonly cache = new Map<string, string>();
  private asking = new AbortController();

  constructor(private readonly serverOf: (panel: NotebookPanel) => SuggestionServer) {}

  /** The text to show at the cursor, or empty. */
  async fetch(
    { text, offset }: Pick<CompletionHandler.IRequest, 'text' | 'offset'>,
    { widget }: Pick<IInlineCompletionContext, 'widget'>
  ): Promise<string> {
    this.asking.abort();
    const cell = widget instanceof NotebookPanel ? widget.content.activeCell : null;
    if (
      cell === null ||
      text.trim() === '' ||
      cell.model.type !== 'code' ||
      isPrivate(cell.model) ||
      isOurs(text)
    ) {
      return '';
    }
    const panel = widget as NotebookPanel;
    const key = `${cell.model.id}\0${offset}\0${text}`;
    const known = this.cache.get(key);
    if (known !== undefined) {
      return known;
    }
    const asking = (this.asking = new AbortController());
    const stop = (): void => asking.abort();
    const { model } = cell;
    model.contentChanged.connect(stop);
    try {
      const request = requestFor(panel, model, 'complete', { source: text, cursor: offset });
      for await (const event of this.serverOf(panel).ask(request, asking.signal)) {
        if (event.type === 'done') {
          this.keep(key, event.source);
          return event.source;
        }
      }
    } catch {
      // Fail silently: the user did not ask explicitly.
    } finally {
      model.contentChanged.disconnect(stop);
    }
    return '';
  }

  private keep(key: string, completion: string): void {
    this.cache.set(key, completion);
    if (this.cache.size > MAX_CACHED) {
      this.cache.delete(this.cache.keys().next().value!);
    }
  }
}
