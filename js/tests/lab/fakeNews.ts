import { Signal } from '@lumino/signaling';

import type { Happened, INews } from '../../src/lab/news';

/** News that the test tells. */
export class FakeNews implements INews {
  readonly happened = new Signal<FakeNews, Happened>(this);

  listen(): void {}

  tell(happened: Happened): void {
    this.happened.emit(happened);
  }
}
