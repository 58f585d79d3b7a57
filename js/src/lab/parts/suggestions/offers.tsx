/** Buttons that cells offer: Fix and Explain below a traceback, Ask about this at outputs. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import { render } from 'preact';

import { Button } from '../../../shared/ui/Button';
import { t } from '../../../shared/text/translate';
import type { Preferences } from '../../model/coworkModel';
import { captureCardKeys } from '../../ui/keyboard';
import type { Cell } from '../../notebook/cellCommands';
import { errorOf, isOurs, isPrivate, outputsOf } from './request';

/** Debounce for bursts of outputs. */
const PAUSE_MS = 100;

export interface OfferActions {
  fix(cell: Cell): void;
  explain(cell: Cell): void;
  askAbout(cell: Cell): void;
  /** Whether a suggestion for the cell is open. */
  isChanging(cell: Cell): boolean;
}

export function offersFix(model: Cell['model']): boolean {
  return errorOf(model) !== null && maySend(model);
}

export function offersAsk(model: Cell['model']): boolean {
  return (outputsOf(model)?.length ?? 0) > 0 && errorOf(model) === null && maySend(model);
}

function maySend(model: Cell['model']): boolean {
  return !isPrivate(model) && !isOurs(model.sharedModel.source);
}

export class Offers {
  private readonly rows = new Map<Cell, HTMLElement>();
  /** The failed source, by cell. */
  private readonly failed = new WeakMap<Cell, string>();
  private readonly ask = document.createElement('div');
  private looking: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly panel: NotebookPanel,
    private readonly actions: OfferActions,
    private readonly preferences: () => Preferences
  ) {
    this.ask.className = 'cowork-root cw-ask-output';
    captureCardKeys(this.ask);
    const { content } = panel;
    content.modelContentChanged.connect(this.lookSoon);
    content.activeCellChanged.connect(() => this.placeAsk(content.activeCell));
    content.node.addEventListener('pointerover', ({ target }) => {
      const area = (target as Element).closest?.('.jp-Cell-outputWrapper');
      this.placeAsk(area ? cellAt(panel, area) : null);
    });
    panel.disposed.connect(() => clearTimeout(this.looking));
    this.lookSoon();
  }

  readonly lookSoon = (): void => {
    this.looking ??= setTimeout(() => {
      this.looking = undefined;
      this.look();
    }, PAUSE_MS);
  };

  private look(): void {
    const { content } = this.panel;
    if (content.isDisposed || content.model === null) {
      return;
    }
    const isOffered = this.preferences().fixErrors && !content.model.readOnly;
    const failing = new Set(isOffered ? content.widgets.filter(cell => this.isFailing(cell)) : []);
    for (const [cell, row] of this.rows) {
      if (!failing.has(cell)) {
        this.removeRow(cell, row);
      }
    }
    failing.forEach(cell => this.rows.has(cell) || this.addRow(cell));
    this.placeAsk(content.activeCell);
  }

  /** Whether the cell still has the source that failed. */
  private isFailing(cell: Cell): boolean {
    if (!offersFix(cell.model)) {
      this.failed.delete(cell);
      return false;
    }
    const { source } = cell.model.sharedModel;
    if (!this.failed.has(cell)) {
      this.failed.set(cell, source);
    }
    return this.failed.get(cell) === source && !this.actions.isChanging(cell);
  }

  private addRow(cell: Cell): void {
    const row = document.createElement('div');
    row.className = 'cowork-root cw-fix-row';
    captureCardKeys(row);
    this.rows.set(cell, row);
    render(
      <>
        <Button look="primary" onClick={() => this.actions.fix(cell)}>
          {t('Fix')}
        </Button>
        <Button onClick={() => this.actions.explain(cell)}>{t('Explain')}</Button>
      </>,
      row
    );
    void cell.ready.then(() => {
      if (this.rows.get(cell) === row && !cell.isDisposed) {
        cell.node.querySelector(':scope > .jp-Cell-outputWrapper')?.after(row);
      }
    });
  }

  private removeRow(cell: Cell, row: HTMLElement): void {
    const hadFocus = row.contains(document.activeElement);
    render(null, row);
    row.remove();
    this.rows.delete(cell);
    if (hadFocus && !cell.isDisposed) {
      cell.node.focus();
    }
  }

  /** One button for all cells: at the hovered output, or at the active cell's. */
  private placeAsk(hovered: Cell | null): void {
    const cell = hovered ?? this.panel.content.activeCell;
    if (this.ask.contains(document.activeElement)) {
      return; // it is in use
    }
    if (
      cell === null ||
      cell.isDisposed ||
      !this.preferences().askOutputs ||
      !offersAsk(cell.model)
    ) {
      this.ask.remove();
      return;
    }
    const area = cell.node.querySelector(':scope > .jp-Cell-outputWrapper');
    if (area !== null && this.ask.parentElement !== area) {
      render(
        <Button onClick={() => this.actions.askAbout(cell)}>{t('Ask about this')}</Button>,
        this.ask
      );
      area.append(this.ask);
    }
  }
}

function cellAt({ content }: NotebookPanel, node: Element): Cell | null {
  const found = node.closest('.jp-Cell');
  return content.widgets.find(cell => cell.node === found) ?? null;
}
