/** A suggested next cell, shown below the active one until accepted or dismissed. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import { render, type VNode } from 'preact';

import { Button, Failure } from '../../../shared/ui/Button';
import { t } from '../../../shared/text/translate';
import { forwardGlobalKeys, captureCardKeys } from '../../ui/keyboard';
import { asOneStep } from '../../notebook/edits';
import type { Cell } from '../../notebook/cellCommands';
import { requestFor } from './request';
import { Suggestion, type SuggestionServer } from './suggestion';

export class NextCell {
  private readonly node = document.createElement('div');
  private readonly suggestion: Suggestion;
  private readonly wasEditing: boolean;
  private isClosed = false;

  constructor(
    private readonly panel: NotebookPanel,
    private readonly cell: Cell,
    server: SuggestionServer,
    private readonly onClosed: () => void
  ) {
    this.wasEditing = panel.content.mode === 'edit';
    this.suggestion = new Suggestion(
      server,
      () => ({ ...requestFor(panel, cell.model, 'next_cell'), source: '' }),
      () => this.draw()
    );
    this.node.className = 'cowork-root cw-next-cell';
    this.node.tabIndex = 0;
    this.node.dataset['lmSuppressShortcuts'] = 'true';
    this.node.setAttribute('role', 'group');
    this.node.setAttribute(
      'aria-label',
      t('Suggested next cell: Tab accepts it, Escape dismisses it')
    );
    this.node.addEventListener('keydown', this.onKey);
    captureCardKeys(this.node);
    forwardGlobalKeys(this.node);
    cell.disposed.connect(this.dispose);
    cell.node.append(this.node);
    void this.suggestion.ask();
    this.node.focus();
  }

  readonly dispose = (): void => {
    if (!this.isClosed) {
      this.isClosed = true;
      this.suggestion.reject();
      render(null, this.node);
      this.node.remove();
      this.onClosed();
    }
  };

  focus(): void {
    this.node.focus();
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    const isTab = event.key === 'Tab' && !event.shiftKey;
    if (isTab && this.suggestion.phase === 'proposed') {
      event.preventDefault();
      event.stopPropagation();
      this.take();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      this.drop();
    }
  };

  private take(): void {
    const { content } = this.panel;
    const notebook = content.model!.sharedModel;
    const index = content.widgets.indexOf(this.cell) + 1;
    const source = this.suggestion.accept();
    this.dispose();
    asOneStep([notebook], () =>
      notebook.insertCell(index, { cell_type: 'code', source, metadata: { trusted: true } })
    );
    content.deselectAll();
    content.activeCellIndex = index;
    content.activate();
  }

  private drop(): void {
    this.dispose();
    if (this.wasEditing) {
      this.panel.content.mode = 'edit';
      this.cell.editor?.focus();
    } else {
      this.cell.node.focus();
    }
  }

  private draw(): void {
    if (!this.isClosed) {
      render(
        <Ghost
          suggestion={this.suggestion}
          onTake={() => this.take()}
          onDrop={() => this.drop()}
        />,
        this.node
      );
    }
  }
}

function Ghost({
  suggestion,
  onTake,
  onDrop
}: {
  suggestion: Suggestion;
  onTake: () => void;
  onDrop: () => void;
}): VNode {
  const { phase, text, explanation } = suggestion;
  return (
    <>
      <div class="cw-sr" role="status" aria-live="polite">
        {phase === 'proposed' &&
          t('Suggested next cell. Press Tab to accept it, Escape to dismiss it.')}
      </div>
      {text !== '' && <pre class="cw-ghost-code">{text}</pre>}
      {phase === 'answered' && <p>{explanation || t('There is no suggestion for a next cell.')}</p>}
      <Failure error={suggestion.error} />
      <div class="cw-cell-mark-row">
        {suggestion.isBusy && <span class="cw-spinner" aria-hidden="true" />}
        {suggestion.isBusy && <span>{t('Thinking…')}</span>}
        {phase === 'proposed' && (
          <Button look="link" onClick={onTake}>
            {t('Accept (Tab)')}
          </Button>
        )}
        <Button look="link" onClick={onDrop}>
          {t('Dismiss (Escape)')}
        </Button>
      </div>
    </>
  );
}
