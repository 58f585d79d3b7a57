/** The inside of the side panel. It knows no Lab, so tests can draw it alone. */

import type { VNode } from 'preact';

import { CheckButton } from '../shared/CheckButton';
import type { Check } from '../shared/connectionCheck';
import { HealthAnswer } from '../shared/HealthAnswer';
import { ModelHelp } from '../shared/ModelHelp';
import { ModelName } from '../shared/ModelName';
import type { Health } from '../shared/protocol';
import { RolePill } from '../shared/RolePill';
import type { RoleLook } from '../shared/roles';
import { t } from '../shared/translate';

export interface PanelViewProps {
  role: RoleLook;
  health: Health | null;
  /** A check that the user asked for, or whose failure the user should know of; else idle. */
  check: Check;
  /** False when no notebook is open that could take a cell. */
  canInsert: boolean;
  onInsertPlan: () => void;
  onChooseRole: (pill: HTMLElement) => void;
  onCheck: () => void;
}

export function PanelView(props: PanelViewProps): VNode {
  const { role, health, check, canInsert } = props;
  return (
    <div class="cw-panel">
      <header class="cw-head">
        <RolePill role={role} onChoose={props.onChooseRole} />
        <span class="cw-grow" />
        <ModelName health={health} />
      </header>
      <div class="cw-panel-scroll">
        <h2 class="cw-heading">{t('Conversations')}</h2>
        <div class="cw-section">
          <div class="cw-title">{t('No conversations yet')}</div>
          <p class="cw-text">
            {t(
              'Write %1 in a cell, say what you want, and run it. You get a plan to review; nothing changes until you approve it.',
              '%%plan'
            )}
          </p>
          <button type="button" class="cw-button cw-primary cw-start" disabled={!canInsert} onClick={props.onInsertPlan}>
            {t('Insert a %1 cell', '%%plan')}
          </button>
          {!canInsert && <p class="cw-dim">{t('Open a notebook first; the cell goes below its active cell.')}</p>}
        </div>
        <h2 class="cw-heading">{t('Model')}</h2>
        <div class="cw-section">
          {health?.model.ready && <p class="cw-text">{t('%1 is ready.', health.model.name ?? health.model.provider)}</p>}
          {health && <ModelHelp health={health} sayWhyNot={check.state !== 'answered'} />}
          <CheckButton check={check} onCheck={props.onCheck} plain />
          <HealthAnswer check={check} />
        </div>
      </div>
    </div>
  );
}
