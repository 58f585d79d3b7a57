/**
 * Where the user is in the side panel, and what is about to be said there. Commands change it from
 * outside.
 */

import { Signal, type ISignal } from '@lumino/signaling';

export class PanelPlace {
  /** The conversation that is open, or null for the overview. */
  context: string | null = null;
  /** What stands in the field for a new conversation. */
  draft = '';
  /**
   * The role of the draft, where a command has given it one; else the role that the user prefers.
   */
  role: string | null = null;
  /** Grows whenever the field should get the keyboard. */
  summons = 0;
  /** Whether somebody has asked for the tour. */
  isTourWanted = false;
  private readonly _changed = new Signal<PanelPlace, void>(this);

  get changed(): ISignal<PanelPlace, void> {
    return this._changed;
  }

  open(context: string): void {
    this.context = context;
    this._changed.emit();
  }

  goBack(): void {
    this.context = null;
    this._changed.emit();
  }

  write(draft: string): void {
    this.draft = draft;
    this._changed.emit();
  }

  /** The user has chosen another role: that one counts. */
  forgetRole(): void {
    this.role = null;
    this._changed.emit();
  }

  /** The tour is about the overview. */
  showTour(isWanted = true): void {
    this.context = isWanted ? null : this.context;
    this.isTourWanted = isWanted;
    this._changed.emit();
  }

  /** To the field for a new conversation, with words and a role to begin with, if given. */
  begin(draft: string | null = null, role: string | null = null): void {
    this.context = null;
    this.draft = draft ?? this.draft;
    this.role = role;
    this.summons += 1;
    this._changed.emit();
  }
}
