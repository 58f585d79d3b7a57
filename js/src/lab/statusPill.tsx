import type { VNode } from 'preact';

import { RolePill } from '../shared/RolePill';
import { roleLook } from '../shared/roles';
import type { ICoworkModel } from './coworkModel';
import { PreactWidget } from './preactWidget';

/** The role that new conversations start in, always in view: it says what the agent may do. */
export class StatusPill extends PreactWidget {
  constructor(
    private readonly model: ICoworkModel,
    private readonly chooseRole: (pill: HTMLElement) => void
  ) {
    super();
    this.addClass('cw-status-pill');
    model.changed.connect(this.update, this);
  }

  override dispose(): void {
    this.model.changed.disconnect(this.update, this);
    super.dispose();
  }

  protected view(): VNode {
    return <RolePill role={roleLook(this.model.role, this.model.roles)} onChoose={this.chooseRole} />;
  }
}
