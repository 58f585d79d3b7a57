import type { VNode } from 'preact';

import { Icon } from '../../shared/ui/icons';
import { RolePill } from '../../shared/role/RolePill';
import { counted } from '../../shared/text/translate';
import type { ICoworkModel } from '../model/coworkModel';
import { PreactWidget } from './preactWidget';

/**
 * Status bar item: role of the current (or a new) conversation, and how many items wait for the
 * user.
 */
export class StatusPill extends PreactWidget {
  constructor(
    private readonly model: ICoworkModel,
    private readonly chooseRole: (pill: HTMLElement) => void,
    private readonly showPanel: () => void
  ) {
    super();
    this.addClass('cw-status-pill');
    model.changed.connect(this.update, this);
    model.inbox.changed.connect(this.update, this);
    model.currentConversation.changed.connect(this.update, this);
  }

  override dispose(): void {
    this.model.changed.disconnect(this.update, this);
    this.model.inbox.changed.disconnect(this.update, this);
    this.model.currentConversation.changed.disconnect(this.update, this);
    super.dispose();
  }

  protected view(): VNode {
    const { preferences, inbox, currentConversation } = this.model;
    const { length } = inbox.items;
    return (
      <>
        <RolePill
          role={currentConversation.conversation?.role ?? preferences.role}
          onChoose={this.chooseRole}
        />
        {length > 0 && (
          <button
            type="button"
            class="cw-pill cw-pill-button cw-colour-ask"
            aria-label={counted(
              length,
              '%1 waiting for you. Show it',
              '%1 waiting for you. Show them'
            )}
            onClick={this.showPanel}
          >
            <Icon name="question" />
            {length}
          </button>
        )}
      </>
    );
  }
}
