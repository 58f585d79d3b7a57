/** Content of the side panel. Independent of Lab, so that tests can render it alone. */

import type { VNode } from 'preact';

import { RolePill } from '../../shared/role/RolePill';
import { t } from '../../shared/text/translate';
import { PanelProvider, type PanelContext } from './context';
import { ConversationView } from './ConversationView';
import { ModelPicker } from './ModelPicker';
import { Overview, type OverviewProps } from './Overview';
import { Tour } from './Tour';

export interface PanelViewProps extends OverviewProps {
  panel: PanelContext;
  /** The open conversation, or null for the overview. */
  context: string | null;
  /** `wanted`: the user has just asked for it. */
  tour: 'closed' | 'open' | 'wanted';
  /** Whether the user looks at a conversation, which has a role of its own. */
  isBesideAnother?: boolean;
  onTourEnd: () => void;
  onShortcuts: () => void;
  onBack: () => void;
  onChooseRole: (pill: HTMLElement) => void;
  onPickModel: (model: string) => void;
}

export function PanelView(props: PanelViewProps): VNode {
  const { panel, context, role, health, check, model, tour } = props;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) {
      return;
    }
    if (event.key === '?' && !isTyping(event.target)) {
      event.preventDefault();
      props.onShortcuts();
    } else if (event.key === 'Escape' && tour !== 'closed') {
      props.onTourEnd();
    }
  };
  const picker = (
    <ModelPicker health={health} check={check} picked={model} onPick={props.onPickModel} />
  );
  return (
    <PanelProvider value={panel}>
      {/* A section, so that its headers do not count as the page's banner. */}
      <section class="cw-panel" onKeyDown={onKeyDown}>
        {tour !== 'closed' && context === null && (
          <Tour isWanted={tour === 'wanted'} onEnd={props.onTourEnd} />
        )}
        {context === null ? (
          <>
            <header class="cw-head">
              {props.isBesideAnother && <span class="cw-dim">{t('New conversation:')}</span>}
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

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select'))
  );
}
