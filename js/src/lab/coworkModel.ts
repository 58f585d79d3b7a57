/** What Lab's parts (panel, status bar, commands) know in common. */

import { Token } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel } from '../shared/channel';
import { askHealth, type Check } from '../shared/model/connectionCheck';
import type { Health, Page, Role } from '../shared/types';
import { DEFAULT_ROLE } from '../shared/role/roles';
import { Inbox, type IInbox } from './inbox';
import { InView, type IInView } from './inView';
import type { INews } from './news';

/** What the user prefers, kept between sessions. */
export interface Preferences {
  /** The role that new conversations start in. */
  role: string;
  /** The model of new conversations; empty for the one that the server is set up with. */
  model: string;
  /** Whether Lab says so when something waits for the user elsewhere. */
  notify: boolean;
}

export const DEFAULTS: Preferences = { role: DEFAULT_ROLE, model: '', notify: true };

export interface PreferenceStore {
  read(): Preferences;
  write(change: Partial<Preferences>): Promise<void>;
}

export interface ICoworkModel {
  readonly channel: Channel;
  readonly news: INews;
  readonly inbox: IInbox;
  readonly inView: IInView;
  /** The last known health, or null before the first answer. */
  readonly health: Health | null;
  /** How the last refresh went. */
  readonly check: Check;
  /** What the server says of its roles; empty until it was asked. */
  readonly roles: readonly Role[];
  readonly preferences: Preferences;
  readonly changed: ISignal<ICoworkModel, void>;
  refresh(): Promise<Check>;
  prefer(change: Partial<Preferences>): Promise<void>;
  /** Keep the preferences there from now on; without a store they last as long as the page. */
  usePreferenceStore(store: PreferenceStore): void;
  /** The store's values changed from outside, for example in the settings editor. */
  preferenceStoreChanged(): void;
}

export const ICoworkModel = new Token<ICoworkModel>(
  'cowork-jupyter:ICoworkModel',
  'The state that the parts of Cowork in Lab share.'
);

export class CoworkModel implements ICoworkModel {
  readonly inbox: Inbox;
  readonly inView: InView;
  private readonly _changed = new Signal<ICoworkModel, void>(this);
  private _health: Health | null = null;
  private _check: Check = { state: 'idle' };
  private _roles: readonly Role[] = [];
  private _preferences = DEFAULTS;
  private store: PreferenceStore | null = null;
  private refreshing: Promise<Check> | null = null;

  constructor(
    readonly channel: Channel,
    readonly news: INews
  ) {
    this.inbox = new Inbox(channel, news);
    this.inView = new InView(channel, news);
  }

  get health(): Health | null {
    return this._health;
  }
  get check(): Check {
    return this._check;
  }
  get roles(): readonly Role[] {
    return this._roles;
  }
  get preferences(): Preferences {
    return this._preferences;
  }
  get changed(): ISignal<ICoworkModel, void> {
    return this._changed;
  }

  /** Callers that come while one is under way share its answer. */
  refresh(): Promise<Check> {
    this.refreshing ??= this.ask().finally(() => {
      this.refreshing = null;
    });
    return this.refreshing;
  }

  async prefer(change: Partial<Preferences>): Promise<void> {
    this.setPreferences({ ...this._preferences, ...change });
    await this.store?.write(change);
  }

  usePreferenceStore(store: PreferenceStore): void {
    this.store = store;
    this.preferenceStoreChanged();
  }

  preferenceStoreChanged(): void {
    if (this.store) {
      this.setPreferences(this.store.read());
    }
  }

  private async ask(): Promise<Check> {
    this._check = { state: 'busy' };
    this._changed.emit();
    const [check] = await Promise.all([askHealth(this.channel), this.learnRoles()]);
    this._check = check;
    if (check.state === 'answered') {
      this._health = check.health;
    }
    this._changed.emit();
    return check;
  }

  /** Nice to have: without it the built-in names and descriptions stand. */
  private async learnRoles(): Promise<void> {
    if (this._roles.length === 0) {
      this._roles = await this.channel.request<Page<Role>>('GET', 'roles').then(
        page => page.items,
        () => []
      );
    }
  }

  private setPreferences(preferences: Preferences): void {
    const { role, model, notify } = this._preferences;
    if (preferences.role !== role || preferences.model !== model || preferences.notify !== notify) {
      this._preferences = preferences;
      this._changed.emit();
    }
  }
}
