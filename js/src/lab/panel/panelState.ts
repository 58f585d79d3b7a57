/** Navigation state of the side panel and the draft message, which commands can change. */

import { Signal, type ISignal } from '@lumino/signaling';

export class PanelState {
  /** The open conversation, or null for the overview. */
  context: string | null = null;
  /** Draft of a new conversation's first message. */
  draft = '';
  /** Role of the draft, if a command set one; else the preferred role. */
  role: string | null = null;
  /** Incremented to focus the field. */
  focusRequests = 0;
  isTourWanted = false;
  private readonly _changed = new Signal<PanelState, void>(this);

  get changed(): ISignal<PanelState, void> {
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

  /** The user's own choice of role takes precedence. */
  forgetRole(): void {
    this.role = null;
    this._changed.emit();
  }

  /** The tour needs the overview. */
  showTour(isWanted = true): void {
    this.context = isWanted ? null : this.context;
    this.isTourWanted = isWanted;
    this._changed.emit();
  }

  /** Focuses the field for a new conversation, with an optional draft and role. */
  begin(draft: string | null = null, role: string | null = null): void {
    this.context = null;
    this.draft = draft ?? this.draft;
    this.role = role;
    this.focusRequests += 1;
    this._changed.emit();
  }
}
