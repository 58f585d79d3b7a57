/** Updates the saved card in the notebook as the run changes. */

import type { IRenderMime } from '@jupyterlab/rendermime';
import { JSONExt, type PartialJSONObject, type ReadonlyPartialJSONValue } from '@lumino/coreutils';

import type { Channel } from '../../shared/channel/channel';
import type { CardAnswer, RunCardData } from '../../shared/types';
import { isFinal, presentJob } from '../../shared/run/state';
import type { RunStore } from '../../shared/run/store';
import { WIDGET_MIME } from './record';

/** Save interval while running; saved at once when the run ends. */
const WHILE_RUNNING_MS = 10_000;
const AT_THE_END_MS = 500;

export class SavedCard {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = Infinity;
  private disposed = false;
  private store: RunStore | null = null;
  private sawRun = false;

  constructor(
    private readonly channel: Channel,
    private readonly mimeType: string,
    private readonly model: () => IRenderMime.IMimeModel | null
  ) {}

  /** The kernel has put out the card again. */
  updated(): void {
    if (this.store !== null) {
      this.changed(this.store);
    }
  }

  changed(store: RunStore): void {
    this.store = store;
    const saved = this.saved();
    const { seq } = store.state;
    const job = presentJob(store.state);
    const hasEnded = job !== null && isFinal(job.status);
    this.sawRun ||= job !== null && !hasEnded;
    const isCurrent = saved?.job_id === store.card.job_id && (saved.snapshot.seq ?? 0) >= seq;
    if (!store.trusted || (isCurrent && !(hasEnded && this.hasNewWidget(saved)))) {
      return;
    }
    const due = Date.now() + (hasEnded ? AT_THE_END_MS : WHILE_RUNNING_MS);
    if (due < this.due) {
      this.due = due;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.write(store), due - Date.now());
    }
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
  }

  private saved(): RunCardData | null {
    return (this.model()?.data[this.mimeType] ?? null) as unknown as RunCardData | null;
  }

  /** Only of a cell that ran here, so that opening a notebook does not change it. */
  private hasNewWidget(saved: RunCardData): boolean {
    return WIDGET_MIME in (this.model()?.data ?? {}) && (this.sawRun || saved.again !== undefined);
  }

  private async write(store: RunStore): Promise<void> {
    this.due = Infinity;
    // Only the visible tab saves, or several tabs would overwrite each other's file.
    if (document.visibilityState !== 'visible') {
      this.changed(store);
      return;
    }
    const answer =
      store.answer ??
      (await this.channel
        .request<CardAnswer>('GET', `jobs/${store.card.job_id}/card`)
        .catch(() => null));
    const model = this.model();
    if (answer === null || model === null || this.disposed) {
      return;
    }
    const saved = this.saved();
    // The server does not know what the cell offers; keep it until the user has continued from
    // here.
    const again = saved?.job_id === store.card.job_id && !store.continued ? saved.again : undefined;
    const card = { ...answer.card, ...(again ? { again } : {}) };
    const news = isSame(saved, card)
      ? {}
      : {
          'text/markdown': answer.markdown,
          'text/plain': answer.text ?? answer.markdown,
          [this.mimeType]: card as unknown as PartialJSONObject
        };
    const { [WIDGET_MIME]: widget, ...others } = model.data;
    if (widget !== undefined && isFinal(card.snapshot.status)) {
      // A Lab without us would show the error of a lost widget instead of the Markdown.
      model.setData({ data: { ...others, ...news } });
    } else if (Object.keys(news).length > 0) {
      model.setData({ data: { ...model.data, ...news } });
    }
  }
}

/** Ignores the save time, or two tabs would keep writing forever. */
function isSame(saved: RunCardData | null, card: RunCardData): boolean {
  const plain = (one: object): ReadonlyPartialJSONValue =>
    ({ ...one, saved_at: null }) as unknown as ReadonlyPartialJSONValue;
  return saved !== null && JSONExt.deepEqual(plain(saved), plain(card));
}
