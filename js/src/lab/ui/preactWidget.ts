import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { render, type VNode } from 'preact';

import { forwardGlobalKeys } from './keyboard';

/** A Lumino widget rendered by Preact. */
export abstract class PreactWidget extends Widget {
  constructor() {
    super();
    this.addClass('cowork-root');
    forwardGlobalKeys(this.node);
  }

  protected abstract view(): VNode;

  /** Lumino merges update requests, so several changes in one turn render once. */
  protected override onUpdateRequest(message: Message): void {
    super.onUpdateRequest(message);
    render(this.view(), this.node);
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.update();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      render(null, this.node);
    }
    super.dispose();
  }
}
