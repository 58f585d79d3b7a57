import type { Message } from '@lumino/messaging';
import type { VNode } from 'preact';

import type { Check } from '../../shared/model/connectionCheck';
import { HostProvider, type CardHost } from '../../shared/card/host';
import { counted, t } from '../../shared/text/translate';
import type { ICoworkModel } from '../model/coworkModel';
import { coworkIcon } from '../ui/icon';
import { hostOf, type Part } from '../part';
import type { PanelContext } from './context';
import type { PanelView } from './PanelView';
import type { PanelState } from './panelState';
import { PreactWidget } from '../ui/preactWidget';

export const PANEL_ID = 'cowork-panel';
/** Attribute of the panel's tab, shown by the style sheet. */
const BADGE = 'cowork-waiting';

/** What the panel needs from the application. */
export interface PanelActions {
  canInsert(): boolean;
  insertPlan(): void;
  /** Inserts code into the current notebook; undefined if there is none. */
  insertCell(): CardHost['insertCell'];
  chooseRole(pill: HTMLElement): void;
  /** Path of the current notebook. */
  notebook(): string | null;
  download: PanelContext['download'];
  pickFiles: PanelContext['pickFiles'];
  showShortcuts(): void;
}

/** The side panel. It loads when shown and on activity, but never before it was first shown. */
export class CoworkPanel extends PreactWidget {
  /** Only checks that the user asked for are shown. */
  private asked = false;
  /** Loaded when the panel is first shown. */
  private View: typeof PanelView | null = null;
  private context: PanelContext | null = null;

  constructor(
    private readonly model: ICoworkModel,
    private readonly place: PanelState,
    private readonly actions: PanelActions,
    private host: CardHost,
    private readonly parts: readonly Part[]
  ) {
    super();
    this.host = {
      ...host,
      ...hostOf(parts),
      openConversation: context => place.open(context),
      allows: what => model.preferences[what]
    };
    this.id = PANEL_ID;
    this.addClass('cw-panel-widget');
    this.title.icon = coworkIcon;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', t('Cowork'));
    model.changed.connect(this.update, this);
    model.inbox.changed.connect(this.count, this);
    model.currentConversation.changed.connect(this.update, this);
    place.changed.connect(this.update, this);
    this.count();
  }

  override dispose(): void {
    this.model.changed.disconnect(this.update, this);
    this.model.inbox.changed.disconnect(this.count, this);
    this.model.currentConversation.changed.disconnect(this.update, this);
    this.place.changed.disconnect(this.update, this);
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.asked = false;
    this.look();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this.look();
    }
  }

  /** Moves keyboard focus into the panel when it is opened by keyboard. */
  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this.node.querySelector<HTMLElement>('button:not(:disabled)')?.focus();
  }

  protected view(): VNode {
    const { View, model, place, actions } = this;
    if (View === null) {
      return <div class="cw-panel" />;
    }
    const { preferences } = model;
    return (
      <HostProvider value={this.hostNow()}>
        <View
          panel={this.panelContext()}
          sections={this.parts.flatMap(({ sections = [] }) => sections)}
          context={place.context}
          inbox={model.inbox.items}
          notify={preferences.notify}
          tour={this.tour()}
          onTourEnd={() => {
            place.showTour(false);
            void model.prefer({ tour: false });
          }}
          onShortcuts={() => actions.showShortcuts()}
          role={place.role ?? preferences.role}
          isBesideAnother={model.currentConversation.conversation !== null}
          health={model.health}
          check={this.checkToShow()}
          model={preferences.model}
          canInsert={actions.canInsert()}
          draft={place.draft}
          focusRequests={place.focusRequests}
          onDraft={text => place.write(text)}
          onNew={() => place.begin()}
          onBack={() => place.goBack()}
          onInsertPlan={() => actions.insertPlan()}
          onChooseRole={pill => actions.chooseRole(pill)}
          onPickModel={picked => void model.prefer({ model: picked })}
          onCheck={() => {
            this.asked = true;
            void model.refresh();
          }}
        />
      </HostProvider>
    );
  }

  private look(): void {
    void this.load();
    void this.model.refresh();
    void this.model.inbox.refresh();
  }

  private async load(): Promise<void> {
    this.View ??= (await import(/* webpackChunkName: "panel" */ './PanelView')).PanelView;
    this.update();
  }

  /** Memoised, so that effects that depend on it do not rerun. */
  private panelContext(): PanelContext {
    const notebook = this.actions.notebook();
    if (this.context === null || this.context.notebook !== notebook) {
      const { channel, feed } = this.model;
      const { pickFiles } = this.actions;
      this.context = {
        channel,
        feed,
        notebook,
        open: id => this.place.open(id),
        download: this.actions.download,
        answerer: () => this.model.health?.model ?? null,
        ...(pickFiles ? { pickFiles } : {})
      };
    }
    return this.context;
  }

  /** Memoised. */
  private hostNow(): CardHost {
    const insertCell = this.actions.insertCell();
    if ((insertCell === undefined) !== (this.host.insertCell === undefined)) {
      const { insertCell: _before, ...others } = this.host;
      this.host = insertCell
        ? {
            ...others,
            insertCell: source => this.actions.insertCell()?.(source) ?? Promise.resolve()
          }
        : others;
    }
    return this.host;
  }

  /** Once skipped, the tour stays closed, even before the settings are loaded. */
  private tour(): 'closed' | 'open' | 'wanted' {
    const { model, place } = this;
    const isNew = model.knowsPreferences && model.preferences.tour;
    return place.isTourWanted ? 'wanted' : isNew ? 'open' : 'closed';
  }

  /** Shows the inbox count on the panel's tab, visible while the panel is closed. */
  private count(): void {
    const { length } = this.model.inbox.items;
    this.title.caption =
      length === 0
        ? t('Cowork')
        : counted(length, 'Cowork: %1 waiting for you', 'Cowork: %1 waiting for you');
    const { [BADGE]: _old, ...others } = this.title.dataset;
    this.title.dataset = length === 0 ? others : { ...others, [BADGE]: String(length) };
    this.update();
  }

  private checkToShow(): Check {
    const { check, health } = this.model;
    return this.asked || check.state === 'failed' || health === null ? check : { state: 'idle' };
  }
}
