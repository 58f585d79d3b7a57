import type { Message } from '@lumino/messaging';
import type { VNode } from 'preact';

import type { Check } from '../shared/connectionCheck';
import { roleLook } from '../shared/roles';
import { t } from '../shared/translate';
import type { ICoworkModel } from './coworkModel';
import { coworkIcon } from './icon';
import { PanelView } from './PanelView';
import { PreactWidget } from './preactWidget';

export const PANEL_ID = 'cowork-panel';

/** What the panel asks of the application around it. */
export interface PanelActions {
  canInsert(): boolean;
  insertPlan(): void;
  chooseRole(pill: HTMLElement): void;
}

/** The side panel. It asks the server each time it is shown, and never while it is hidden. */
export class CoworkPanel extends PreactWidget {
  /** Refreshing on its own is no news; an answer is shown to those who asked for it. */
  private asked = false;

  constructor(
    private readonly model: ICoworkModel,
    private readonly actions: PanelActions
  ) {
    super();
    this.id = PANEL_ID;
    this.addClass('cw-panel-widget');
    this.title.icon = coworkIcon;
    this.title.caption = t('Cowork');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', t('Cowork'));
    model.changed.connect(this.update, this);
  }

  override dispose(): void {
    this.model.changed.disconnect(this.update, this);
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.asked = false;
    void this.model.refresh();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      void this.model.refresh();
    }
  }

  /** So that opening the panel from the keyboard puts the keyboard there. */
  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this.node.querySelector<HTMLElement>('button:not(:disabled)')?.focus();
  }

  protected view(): VNode {
    const { model, actions } = this;
    return (
      <PanelView
        role={roleLook(model.role, model.roles)}
        health={model.health}
        check={this.checkToShow()}
        canInsert={actions.canInsert()}
        onInsertPlan={() => actions.insertPlan()}
        onChooseRole={pill => actions.chooseRole(pill)}
        onCheck={() => {
          this.asked = true;
          void model.refresh();
        }}
      />
    );
  }

  private checkToShow(): Check {
    const { check, health } = this.model;
    return this.asked || check.state === 'failed' || health === null ? check : { state: 'idle' };
  }
}
