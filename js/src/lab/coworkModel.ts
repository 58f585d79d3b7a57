/** What Lab's parts (panel, status bar, commands) know in common. */

import { Token } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';

import type { Channel } from '../shared/channel';
import { askHealth, type Check } from '../shared/connectionCheck';
import type { Health, Page, Role } from '../shared/protocol';
import { DEFAULT_ROLE } from '../shared/roles';

/** Where the chosen role is kept between sessions. */
export interface RoleStore {
  read(): string;
  write(role: string): Promise<void>;
}

export interface ICoworkModel {
  readonly channel: Channel;
  /** The last known health, or null before the first answer. */
  readonly health: Health | null;
  /** How the last refresh went. */
  readonly check: Check;
  /** What the server says of its roles; empty until it was asked. */
  readonly roles: readonly Role[];
  /** The role that new conversations start in. */
  readonly role: string;
  readonly changed: ISignal<ICoworkModel, void>;
  refresh(): Promise<Check>;
  chooseRole(role: string): Promise<void>;
  /** Keep the role there from now on; without a store it lasts as long as the page. */
  useRoleStore(store: RoleStore): void;
  /** The store's value changed from outside, for example in the settings editor. */
  roleStoreChanged(): void;
}

export const ICoworkModel = new Token<ICoworkModel>(
  'cowork-jupyter:ICoworkModel',
  'The state that the parts of Cowork in Lab share.'
);

export class CoworkModel implements ICoworkModel {
  private readonly _changed = new Signal<ICoworkModel, void>(this);
  private _health: Health | null = null;
  private _check: Check = { state: 'idle' };
  private _roles: readonly Role[] = [];
  private _role: string = DEFAULT_ROLE;
  private store: RoleStore | null = null;
  private refreshing: Promise<Check> | null = null;

  constructor(readonly channel: Channel) {}

  get health(): Health | null {
    return this._health;
  }
  get check(): Check {
    return this._check;
  }
  get roles(): readonly Role[] {
    return this._roles;
  }
  get role(): string {
    return this._role;
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

  async chooseRole(role: string): Promise<void> {
    this.setRole(role);
    await this.store?.write(role);
  }

  useRoleStore(store: RoleStore): void {
    this.store = store;
    this.roleStoreChanged();
  }

  roleStoreChanged(): void {
    if (this.store) {
      this.setRole(this.store.read());
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

  private setRole(role: string): void {
    if (role !== this._role) {
      this._role = role;
      this._changed.emit();
    }
  }
}
