/** Shows a diff in the cell's own editor: deleted lines appear as widgets above the new ones. */

import {
  Compartment,
  StateField,
  type EditorState,
  type Extension,
  type Range
} from '@codemirror/state';
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { t } from '../../shared/text/translate';
import { diffRows, type Piece, type Row } from './wordDiff';

export type Editor = NonNullable<NotebookPanel['content']['widgets'][number]['editor']>;

const added = Decoration.line({ class: 'cw-line-added' });
const newWords = Decoration.mark({ class: 'cw-words-new' });

/** Compares the cell's source with an earlier one while it is shown. */
export class EditorDiff {
  private readonly compartment = new Compartment();

  constructor(
    private readonly editor: Editor,
    readonly before: string
  ) {
    editor.injectExtension(this.compartment.of(comparedWith(before)));
  }

  remove(): void {
    if (!this.editor.isDisposed) {
      viewOf(this.editor)?.dispatch({ effects: this.compartment.reconfigure([]) });
    }
  }
}

/** CodeMirror's view; Lab's interface cannot remove an extension. */
export function viewOf(editor: Editor): EditorView | undefined {
  return (editor as Editor & { editor?: EditorView }).editor;
}

function comparedWith(before: string): Extension {
  const decorations = StateField.define<DecorationSet>({
    create: state => decorated(state, before),
    update: (known, change) => (change.docChanged ? decorated(change.state, before) : known),
    provide: field => EditorView.decorations.from(field)
  });
  return [decorations, EditorView.editorAttributes.of({ class: 'cw-diffed' })];
}

function decorated({ doc }: EditorState, before: string): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  let removed: Row[] = [];
  let number = 0;
  for (const row of diffRows(before, doc.toString())) {
    if (row.kind === 'removed') {
      removed.push(row);
      continue;
    }
    const line = doc.line(++number);
    if (removed.length > 0) {
      ranges.push(removedLines(removed, -1).range(line.from));
      removed = [];
    }
    if (row.kind === 'added') {
      ranges.push(added.range(line.from), ...wordsOf(row.pieces, line.from));
    }
  }
  if (removed.length > 0) {
    ranges.push(removedLines(removed, 1).range(doc.length));
  }
  return Decoration.set(ranges, true);
}

export function wordsOf(pieces: readonly Piece[], start: number): Range<Decoration>[] {
  const ranges: Range<Decoration>[] = [];
  let from = start;
  for (const { text, isNew } of pieces) {
    if (isNew && text) {
      ranges.push(newWords.range(from, from + text.length));
    }
    from += text.length;
  }
  return ranges;
}

function removedLines(rows: readonly Row[], side: -1 | 1): Decoration {
  const widget = new OtherLines(rows, 'cw-line-removed', t('Removed'));
  return Decoration.widget({ widget, block: true, side });
}

/** Lines that are not part of the document. */
export class OtherLines extends WidgetType {
  private readonly text: string;

  constructor(
    private readonly rows: readonly Row[],
    private readonly look: string,
    private readonly label: string
  ) {
    super();
    this.text = look + JSON.stringify(rows);
  }

  override eq(other: OtherLines): boolean {
    return other.text === this.text;
  }

  override toDOM(): HTMLElement {
    const node = document.createElement('div');
    node.setAttribute('role', 'note');
    node.setAttribute('aria-label', this.label);
    for (const { pieces } of this.rows) {
      const line = node.appendChild(document.createElement('div'));
      line.className = this.look;
      for (const { text, isNew } of pieces) {
        const part = line.appendChild(document.createElement('span'));
        part.className = isNew ? 'cw-words-new' : '';
        part.textContent = text || '\u200b';
      }
    }
    return node;
  }
}
