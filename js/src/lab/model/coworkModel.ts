/** State shared by the panel, the status bar and the commands. */

import { Token } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel } from '../../shared/channel/channel';
import { fetchHealth, type Check } from '../../shared/model/connectionCheck';
import type { Health } from '../../shared/types';
import { fetchRoles, DEFAULT_ROLE } from '../../shared/role/roles';
import { Inbox, type IInbox } from '../inbox/inbox';
import { CurrentConversation, type ICurrentConversation } from './currentConversation';
import type { IActivityFeed } from './activityFeed';

/** User preferences, as described in `schema/plugin.json`. */
export interface Preferences {
  role: string;
  /** Empty for the server's default. */
  model: string;
  notify: boolean;
  fixErrors: boolean;
  askOutputs: boolean;
  cellPrompt: boolean;
  mentions: boolean;
  comments: boolean;
  staleMarks: boolean;
  inlineCompletion: boolean;
  pictures: boolean;
  sound: boolean;
  /** Whether the tour has yet to be shown. */
  tour: boolean;
}

export const DEFAULTS: Preferences = {
  role: DEFAULT_ROLE,
  model: '',
  notify: true,
  fixErrors: true,
  askOutputs: true,
  cellPrompt: true,
  mentions: true,
  comments: true,
  staleMarks: true,
  inlineCompletion: false,
  pictures: true,
  sound: false,
  tour: true
};

export interface PreferenceStore {
  read(): Preferences;
  write(change: Partial<Preferences>): Promise<void>;
}

export interface ICoworkModel {
  readonly channel: Channel;
  readonly feed: IActivityFeed;
  readonly inbox: IInbox;
  readonly currentConversation: ICurrentConversation;
  /** Null before the first answer. */
  readonly health: Health | null;
  /** State of the last refresh. */
  readonly check: Check;
  readonly preferences: Preferences;
  /** False until the settings are loaded: until then these are the defaults. */
  readonly knowsPreferences: boolean;
  readonly changed: ISignal<ICoworkModel, void>;
  refresh(): Promise<Check>;
  /** Reloads the roles; keeps the known ones on failure. */
  learnRoles(): Promise<void>;
  prefer(change: Partial<Preferences>): Promise<void>;
  /** Without a store, preferences last as long as the page. */
  usePreferenceStore(store: PreferenceStore): void;
  /** For changes from outside, such as the settings editor. */
  preferenceStoreChanged(): void;
}

export const ICoworkModel = new Token<ICoworkModel>(
  'cowork-jupyter:ICoworkModel',
  'The state that the parts of Cowork in Lab share.'
);

export class CoworkModel implements ICoworkModel {
  readonly inbox: Inbox;
  readonly currentConversation: CurrentConversation;
  private readonly _changed = new Signal<ICoworkModel, void>(this);
  private _health: Health | null = null;
  private _check: Check = { state: 'idle' };
  private _preferences = DEFAULTS;
  private store: PreferenceStore | null = null;
  private refreshing: Promise<Check> | null = null;

  constructor(
    readonly channel: Channel,
    readonly feed: IActivityFeed
  ) {
    this.inbox = new Inbox(channel, feed);
    this.currentConversation = new CurrentConversation(channel, feed);
  }

  get health(): Health | null {
    return this._health;
  }
  get check(): Check {
    return this._check;
  }
  get preferences(): Preferences {
    return this._preferences;
  }
  get knowsPreferences(): boolean {
    return this.store !== null;
  }
  get changed(): ISignal<ICoworkModel, void> {
    return this._changed;
  }

  /** Concurrent callers share one request. */
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
    this._preferences = store.read();
    this._changed.emit();
  }

  preferenceStoreChanged(): void {
    if (this.store) {
      this.setPreferences(this.store.read());
    }
  }

  private async ask(): Promise<Check> {
    this._check = { state: 'busy' };
    this._changed.emit();
    const [check] = await Promise.all([fetchHealth(this.channel), this.learnRoles()]);
    this._check = check;
    if (check.state === 'answered') {
      this._health = check.health;
    }
    this._changed.emit();
    return check;
  }

  async learnRoles(): Promise<void> {
    await fetchRoles(this.channel).catch(() => undefined);
  }

  private setPreferences(preferences: Preferences): void {
    const keys = Object.keys(DEFAULTS) as (keyof Preferences)[];
    if (keys.some(key => preferences[key] !== this._preferences[key])) {
      this._preferences = preferences;
      this._changed.emit();
    }
  }
}
