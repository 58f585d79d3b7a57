/** What Lab's parts (panel, status bar, commands) know in common. */

import { Token } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel } from '../../shared/channel/channel';
import { askHealth, type Check } from '../../shared/model/connectionCheck';
import type { Health } from '../../shared/types';
import { askRoles, DEFAULT_ROLE } from '../../shared/role/roles';
import { Inbox, type IInbox } from '../inbox/inbox';
import { CurrentConversation, type ICurrentConversation } from './currentConversation';
import type { IActivityFeed } from './activityFeed';

/** What the user prefers, kept between sessions. */
export interface Preferences {
  /** The role that new conversations start in. */
  role: string;
  /** The model of new conversations; empty for the one that the server is set up with. */
  model: string;
  /** Whether Lab says so when something waits for the user elsewhere. */
  notify: boolean;
  /** Whether a failed cell offers Fix and Explain. */
  fixErrors: boolean;
  /** Whether outputs offer Ask about this. */
  askOutputs: boolean;
  /** Whether a key opens a prompt in the cell. */
  cellPrompt: boolean;
  /** Whether `@` and `/` are completed. */
  mentions: boolean;
  /** Whether what is seen can be commented on. */
  comments: boolean;
  /** Whether cells are marked whose inputs have changed since they ran. */
  staleMarks: boolean;
  /** Whether the model completes code while the user types. */
  inlineCompletion: boolean;
  /** Whether messages take images. */
  pictures: boolean;
  /** Whether a sound is played when something waits for the user. */
  sound: boolean;
  /** Whether the tour is still to be shown. */
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
  /** The last known health, or null before the first answer. */
  readonly health: Health | null;
  /** How the last refresh went. */
  readonly check: Check;
  readonly preferences: Preferences;
  /** Whether these are the user's own: until the settings are loaded they are the defaults. */
  readonly knowsPreferences: boolean;
  readonly changed: ISignal<ICoworkModel, void>;
  refresh(): Promise<Check>;
  /** Asks which roles there are; when nobody answers, those known before stay. */
  learnRoles(): Promise<void>;
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
    const [check] = await Promise.all([askHealth(this.channel), this.learnRoles()]);
    this._check = check;
    if (check.state === 'answered') {
      this._health = check.health;
    }
    this._changed.emit();
    return check;
  }

  async learnRoles(): Promise<void> {
    await askRoles(this.channel).catch(() => undefined);
  }

  private setPreferences(preferences: Preferences): void {
    const keys = Object.keys(DEFAULTS) as (keyof Preferences)[];
    if (keys.some(key => preferences[key] !== this._preferences[key])) {
      this._preferences = preferences;
      this._changed.emit();
    }
  }
}
