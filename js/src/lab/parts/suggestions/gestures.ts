/** Gestures on cells. Loaded with the first notebook. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { ServerConnection } from '@jupyterlab/services';

import type { Channel } from '../../../shared/channel/channel';
import type { Preferences } from '../../model/coworkModel';
import type { Cell } from '../../notebook/cellCommands';
import { CellSuggestion, type Gesture } from './cellSuggestion';
import { Completion } from './completion';
import { conversationOf } from './conversation';
import { NextCell } from './nextCell';
import { Offers, offersAsk, offersFix } from './offers';
import { askWith } from './stream';
import type { SuggestionServer } from './suggestion';

export interface GestureParts {
  channel: Channel;
  serverSettings: ServerConnection.ISettings;
  preferences(): Preferences;
  /** Opens the panel with this text in its field. */
  compose(text: string): void;
}

export class Gestures {
  readonly completion = new Completion(panel => this.serverOf(panel));
  private readonly followed = new Map<NotebookPanel, Offers>();
  private readonly open = new Map<Cell, CellSuggestion | NextCell>();

  constructor(private readonly parts: GestureParts) {}

  follow(panel: NotebookPanel): void {
    const { preferences } = this.parts;
    const offers = new Offers(
      panel,
      {
        fix: cell => this.suggest(panel, cell, 'fix'),
        explain: cell => this.suggest(panel, cell, 'explain'),
        askAbout: cell => this.askAbout(panel, cell),
        isChanging: cell => this.isChanging(cell)
      },
      preferences
    );
    this.followed.set(panel, offers);
    panel.disposed.connect(() => this.followed.delete(panel));
  }

  /** Applies changed preferences. */
  refresh(): void {
    this.followed.forEach(offers => offers.lookSoon());
  }

  canFix(cell: Cell): boolean {
    return offersFix(cell.model);
  }

  canAskAbout(cell: Cell): boolean {
    return offersAsk(cell.model);
  }

  suggest(panel: NotebookPanel, cell: Cell, gesture: Gesture): void {
    const known = this.open.get(cell);
    if (known instanceof CellSuggestion && known.gesture === gesture) {
      known.focus();
      return;
    }
    known?.dispose();
    const closed = (): void => this.closed(panel, cell);
    const { channel, preferences, compose } = this.parts;
    const mentions = preferences().mentions
      ? { channel, place: { notebook: panel.context.localPath } }
      : null;
    this.open.set(
      cell,
      new CellSuggestion(panel, cell, gesture, this.serverOf(panel), mentions, compose, closed)
    );
    this.followed.get(panel)?.lookSoon();
  }

  nextCell(panel: NotebookPanel, cell: Cell): void {
    this.open.get(cell)?.dispose();
    const closed = (): void => this.closed(panel, cell);
    this.open.set(cell, new NextCell(panel, cell, this.serverOf(panel), closed));
  }

  askAbout({ content }: NotebookPanel, cell: Cell): void {
    this.parts.compose(`@output:${content.widgets.indexOf(cell) + 1} `);
  }

  private isChanging(cell: Cell): boolean {
    const open = this.open.get(cell);
    return open instanceof CellSuggestion && open.gesture !== 'explain';
  }

  private closed(panel: NotebookPanel, cell: Cell): void {
    this.open.delete(cell);
    this.followed.get(panel)?.lookSoon();
  }

  private serverOf({ context }: NotebookPanel): SuggestionServer {
    const { channel, serverSettings, preferences } = this.parts;
    const ask = askWith(serverSettings);
    let conversation = '';
    return {
      ask: async function* (request, signal) {
        conversation = await conversationOf(channel, context.localPath, preferences());
        yield* ask(conversation, request, signal);
      },
      decide: (id, decision) => {
        const path = `context/${conversation}/suggestions/${id}/decision`;
        channel.request('POST', path, { decision }).catch(() => undefined); // only a record
      }
    };
  }
}
