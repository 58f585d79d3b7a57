/** A suggestion in its cell: the prompt, the diff in the editor, and the decision. */

import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { render } from 'preact';

import { CoworkError } from '../../../shared/channel/channel';
import { t } from '../../../shared/text/translate';
import { forwardGlobalKeys, captureCardKeys } from '../../ui/keyboard';
import { asOneStep, spliceSource } from '../../notebook/edits';
import type { Cell } from '../../notebook/cellCommands';
import { PromptLine, type MentionSource } from './PromptLine';
import { ProposedDiff } from './proposedDiff';
import { errorOf, isPrivate, requestFor } from './request';
import { Suggestion, type SuggestionServer } from './suggestion';
import { SuggestionView } from './SuggestionView';
import type { SuggestionRequest } from './types';

/** Streamed pieces are rendered at most this often. */
const DRAW_MS = 30;

export type Gesture = 'fix' | 'explain' | 'prompt';

export class CellSuggestion {
  private readonly suggestion: Suggestion;
  private readonly line = part('cw-prompt-place');
  private readonly below = part('cw-suggestion-place');
  private readonly wasEditing: boolean;
  private readonly selection: [number, number] | null;
  private diff: ProposedDiff | null = null;
  private instruction = '';
  private hasAsked = false;
  private drawing: ReturnType<typeof setTimeout> | undefined;
  private drawnAt = 0;
  private isClosed = false;

  constructor(
    private readonly panel: NotebookPanel,
    private readonly cell: Cell,
    readonly gesture: Gesture,
    server: SuggestionServer,
    private readonly mentions: MentionSource | null,
    private readonly onCommand: (text: string) => void,
    private readonly onClosed: () => void
  ) {
    this.wasEditing = panel.content.mode === 'edit';
    this.selection = gesture === 'prompt' ? selectionIn(cell) : null;
    this.suggestion = new Suggestion(server, () => this.request(), this.drawSoon);
    this.attach();
    cell.model.contentChanged.connect(this.drawSoon);
    cell.disposed.connect(this.dispose);
    window.addEventListener('keydown', this.stopOnEscape, true);
    if (gesture === 'prompt') {
      this.draw();
    } else {
      this.ask();
      this.focusBelow();
    }
  }

  focus(): void {
    if (this.gesture === 'prompt') {
      this.line.querySelector('input')?.focus();
    } else {
      this.focusBelow();
    }
  }

  readonly dispose = (): void => {
    if (this.isClosed) {
      return;
    }
    this.isClosed = true;
    this.suggestion.reject();
    clearTimeout(this.drawing);
    window.removeEventListener('keydown', this.stopOnEscape, true);
    this.cell.model?.contentChanged.disconnect(this.drawSoon);
    this.diff?.remove();
    for (const node of [this.line, this.below]) {
      render(null, node);
      node.remove();
    }
    this.onClosed();
  };

  private attach(): void {
    if (this.cell.model.type === 'markdown') {
      (this.cell as Cell & { rendered: boolean }).rendered = false;
    }
    const within = (name: string): Element | null =>
      this.cell.node.querySelector(`:scope > .jp-Cell-${name}Wrapper`);
    within('input')?.before(this.line);
    within(this.gesture === 'explain' ? 'output' : 'input')?.after(this.below);
    this.below.addEventListener('keydown', event => {
      if (event.key === 'Escape' && !event.defaultPrevented) {
        event.preventDefault();
        this.close();
      }
    });
    for (const node of [this.line, this.below]) {
      captureCardKeys(node);
      forwardGlobalKeys(node);
    }
  }

  private request(): SuggestionRequest {
    const { model } = this.cell;
    if (this.gesture !== 'prompt') {
      const error = errorOf(model);
      return requestFor(this.panel, model, this.gesture, error === null ? {} : { error });
    }
    const isEmpty = model.sharedModel.source.trim() === '';
    return requestFor(this.panel, model, isEmpty ? 'generate' : 'change', {
      instruction: this.instruction.trim(),
      ...(this.selection && !isEmpty ? { selection: this.selection } : {})
    });
  }

  /** Roles, workflows and prompts concern more than a cell: send them to the panel. */
  private send(): void {
    if (this.instruction.trimStart().startsWith('/')) {
      this.dispose();
      this.onCommand(this.instruction.trim());
    } else if (this.instruction.trim() !== '') {
      this.ask();
    }
  }

  private ask(): void {
    this.hasAsked = true;
    if (isPrivate(this.cell.model)) {
      this.suggestion.fail(
        new CoworkError({
          code: 'private',
          message: t('This cell is tagged "private", so it is not sent. Remove the tag first.')
        })
      );
    } else {
      void this.suggestion.ask();
    }
    this.draw(); // at once: who has pressed a button of the last answer finds those of the next
  }

  private accept(andRun: boolean): void {
    const { content, sessionContext } = this.panel;
    const cell = this.cell.model.sharedModel;
    const source = this.suggestion.accept();
    this.diff?.remove();
    this.diff = null;
    asOneStep([cell, content.model!.sharedModel], () => spliceSource(cell, source));
    this.close();
    if (andRun) {
      void NotebookActions.runCells(content, [this.cell], sessionContext);
    }
  }

  /** Rejects an open proposal. */
  private close(): void {
    const hadFocus = [this.line, this.below].some(node => node.contains(document.activeElement));
    this.dispose();
    if (hadFocus) {
      const { content } = this.panel;
      content.activeCellIndex = content.widgets.indexOf(this.cell);
      if (this.wasEditing) {
        content.mode = 'edit';
        this.cell.editor?.focus();
      } else {
        this.cell.node.focus();
      }
    }
  }

  /** In the capture phase, or Lab would leave the editor. */
  private readonly stopOnEscape = (event: KeyboardEvent): void => {
    const isHere =
      event.target instanceof Node &&
      this.panel.content.node.contains(event.target) &&
      this.panel.content.activeCell === this.cell;
    if (event.key === 'Escape' && isHere && this.hasAsked && this.suggestion.isBusy) {
      event.preventDefault();
      event.stopPropagation();
      this.suggestion.stop();
    }
  };

  /** Renders the first piece at once. */
  private readonly drawSoon = (): void => {
    this.drawing ??= setTimeout(
      () => {
        this.drawing = undefined;
        this.draw();
      },
      Math.max(0, this.drawnAt + DRAW_MS - Date.now())
    );
  };

  private draw(): void {
    if (this.isClosed) {
      return;
    }
    this.drawnAt = Date.now();
    const { suggestion, cell } = this;
    const hadFocus = this.below.contains(document.activeElement);
    const wasBusy = this.below.querySelector('[aria-busy=true]') !== null;
    this.drawLine();
    if (!this.hasAsked) {
      return;
    }
    render(
      <SuggestionView
        suggestion={suggestion}
        isExplanation={this.gesture === 'explain'}
        isOutdated={cell.model.sharedModel.source !== suggestion.base}
        actions={{
          accept: () => this.accept(false),
          ...(cell.model.type === 'code' ? { acceptAndRun: () => this.accept(true) } : {}),
          close: () => this.close(),
          tryAgain: () => this.ask(),
          stop: () => suggestion.stop()
        }}
      />,
      this.below
    );
    this.drawDiff();
    const waited = hadFocus || this.line.contains(document.activeElement);
    if (wasBusy ? !suggestion.isBusy && waited : hadFocus && this.hasLostFocus()) {
      this.focusBelow();
    }
  }

  private hasLostFocus(): boolean {
    return !this.below.contains(document.activeElement);
  }

  private drawLine(): void {
    if (this.gesture !== 'prompt') {
      return;
    }
    const isEmpty = this.cell.model.sharedModel.source.trim() === '';
    render(
      <PromptLine
        text={this.instruction}
        placeholder={
          isEmpty
            ? t('Say what this cell should do; Enter sends, Escape closes')
            : this.selection
              ? t('Say what to change in the selection; Enter sends, Escape closes')
              : t('Say what to change in this cell; Enter sends, Escape closes')
        }
        mentions={this.mentions}
        onInput={text => {
          this.instruction = text;
          this.drawLine();
        }}
        onSend={() => this.send()}
        onClose={() => this.close()}
      />,
      this.line
    );
  }

  private drawDiff(): void {
    const { editor } = this.cell;
    const { phase, text } = this.suggestion;
    if (this.gesture === 'explain' || !editor) {
      return;
    }
    const isShown = phase === 'streaming' || phase === 'proposed';
    if (isShown) {
      this.diff ??= new ProposedDiff(editor);
      this.diff.show(text, phase === 'proposed');
    } else {
      this.diff?.remove();
      this.diff = null;
    }
  }

  private focusBelow(): void {
    this.below.querySelector('button')?.focus();
  }
}

function part(className: string): HTMLElement {
  const node = document.createElement('div');
  node.className = `cowork-root ${className}`;
  return node;
}

/** In code points, as the server counts; null if nothing is selected. */
function selectionIn({ editor, model }: Cell): [number, number] | null {
  if (!editor) {
    return null;
  }
  const { start, end } = editor.getSelection();
  const [from, to] = [editor.getOffsetAt(start), editor.getOffsetAt(end)].sort((a, b) => a - b);
  const { source } = model.sharedModel;
  return from === to ? null : [characters(source, from!), characters(source, to!)];
}

/** JavaScript counts a character like 🐍 as two. */
function characters(source: string, offset: number): number {
  return [...source.slice(0, offset)].length;
}
