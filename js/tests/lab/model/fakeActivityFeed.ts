import { Signal } from '@lumino/signaling';

import type { Activity, IActivityFeed } from '../../../src/lab/model/activityFeed';

export class FakeActivityFeed implements IActivityFeed {
  readonly activity = new Signal<FakeActivityFeed, Activity>(this);

  listen(): void {}

  tell(happened: Activity): void {
    this.activity.emit(happened);
  }
}
