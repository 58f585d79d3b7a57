/**
 * Keeps what the notebook holds of a run up to date, so that a saved notebook tells what became of
 * it.
 */

import type { IRenderMime } from '@jupyterlab/rendermime';
import { JSONExt, type PartialJSONObject, type ReadonlyPartialJSONValue } from '@lumino/coreutils';

import type { Channel } from '../../shared/channel/channel';
import type { CardAnswer, RunCardData } from '../../shared/types';
import { isFinal, presentJob } from '../../shared/run/state';
import type { RunStore } from '../../shared/run/store';

/** While it runs the notebook is brought up to date now and then; when it has ended, at once. */
const WHILE_RUNNING_MS = 10_000;
const AT_THE_END_MS = 500;

export class SavedCard {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = Infinity;
  private disposed = false;

  constructor(
    private readonly channel: Channel,
    private readonly mimeType: string,
    private readonly model: () => IRenderMime.IMimeModel | null
  ) {}

  /** The run has changed on the screen. */
  changed(store: RunStore): void {
    const saved = this.saved();
    const { seq } = store.state;
    if (
      !store.trusted ||
      (saved?.job_id === store.card.job_id && (saved.snapshot.seq ?? 0) >= seq)
    ) {
      return;
    }
    const job = presentJob(store.state);
    const due = Date.now() + (job && isFinal(job.status) ? AT_THE_END_MS : WHILE_RUNNING_MS);
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

  private async write(store: RunStore): Promise<void> {
    this.due = Infinity;
    // Of several tabs with this notebook, the one that is looked at keeps it; else they would
    // overwrite each other's file.
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
    // What the cell offers is not known to the server; it stands until the user has gone on from
    // here.
    const again = saved?.job_id === store.card.job_id && !store.hasGoneOn ? saved.again : undefined;
    const card = { ...answer.card, ...(again ? { again } : {}) };
    if (!isSame(saved, card)) {
      const words = {
        'text/markdown': answer.markdown,
        'text/plain': answer.text ?? answer.markdown
      };
      model.setData({
        data: { ...model.data, ...words, [this.mimeType]: card as unknown as PartialJSONObject }
      });
    }
  }
}

/** When it was saved is no difference: two tabs would write for ever. */
function isSame(saved: RunCardData | null, card: RunCardData): boolean {
  const plain = (one: object): ReadonlyPartialJSONValue =>
    ({ ...one, saved_at: null }) as unknown as ReadonlyPartialJSONValue;
  return saved !== null && JSONExt.deepEqual(plain(saved), plain(card));
}
