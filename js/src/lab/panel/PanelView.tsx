/** The inside of the side panel. It knows no Lab, so tests can draw it alone. */

import type { VNode } from 'preact';

import { RolePill } from '../../shared/role/RolePill';
import { PanelProvider, type PanelHands } from './context';
import { ConversationView } from './ConversationView';
import { ModelPicker } from './ModelPicker';
import { Overview, type OverviewProps } from './Overview';

export interface PanelViewProps extends OverviewProps {
  hands: PanelHands;
  /** The conversation that is open, or null for the overview. */
  context: string | null;
  onBack: () => void;
  onChooseRole: (pill: HTMLElement) => void;
  onPickModel: (model: string) => void;
}

export function PanelView(props: PanelViewProps): VNode {
  const { hands, context, role, health, check, model } = props;
  const picker = (
    <ModelPicker health={health} check={check} picked={model} onPick={props.onPickModel} />
  );
  return (
    <PanelProvider value={hands}>
      {/* A section, so that the headers in it are not taken for that of the page. */}
      <section class="cw-panel">
        {context === null ? (
          <>
            <header class="cw-head">
              <RolePill role={role} onChoose={props.onChooseRole} />
              <span class="cw-grow" />
              {picker}
            </header>
            <Overview {...props} />
          </>
        ) : (
          <ConversationView
            key={context}
            id={context}
            model={model}
            picker={picker}
            onBack={props.onBack}
          />
        )}
      </section>
    </PanelProvider>
  );
}
