/**
 * Shows a proposal in the cell's editor: deletions are marked, insertions appear below. The
 * document stays unchanged until the user accepts.
 */

import { Compartment, StateEffect, StateField, type Range, type Text } from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';

import { t } from '../../../shared/text/translate';
import { OtherLines, viewOf, wordsOf, type Editor } from '../../notebook/editorDiff';
import { diffRows, growingRows, type Row } from '../../notebook/wordDiff';

interface Proposed {
  text: string;
  isWhole: boolean;
}

const removed = Decoration.line({ class: 'cw-line-removed' });
const propose = StateEffect.define<Proposed>();

export class ProposedDiff {
  private readonly compartment = new Compartment();

  constructor(private readonly editor: Editor) {
    editor.injectExtension(
      this.compartment.of([compared(), EditorView.editorAttributes.of({ class: 'cw-diffed' })])
    );
  }

  show(text: string, isWhole: boolean): void {
    this.dispatch(propose.of({ text, isWhole }));
  }

  remove(): void {
    this.dispatch(this.compartment.reconfigure([]));
  }

  private dispatch(effects: StateEffect<unknown>): void {
    if (!this.editor.isDisposed) {
      viewOf(this.editor)?.dispatch({ effects });
    }
  }
}

interface Compared {
  proposed: Proposed | null;
  marks: DecorationSet;
}

function compared(): StateField<Compared> {
  return StateField.define<Compared>({
    create: () => ({ proposed: null, marks: Decoration.none }),
    update: (known, change) => {
      const news = change.effects.find(effect => effect.is(propose));
      if (!news && !change.docChanged) {
        return known;
      }
      const proposed = news ? (news.value as Proposed) : known.proposed;
      return { proposed, marks: proposed ? marksIn(change.state.doc, proposed) : Decoration.none };
    },
    provide: field => EditorView.decorations.from(field, ({ marks }) => marks)
  });
}

function marksIn(doc: Text, { text, isWhole }: Proposed): DecorationSet {
  const before = doc.toString();
  // An unfinished line cannot be matched to the one it replaces.
  const soFar = isWhole ? text : text.slice(0, Math.max(0, text.lastIndexOf('\n')));
  const rows = isWhole ? diffRows(before, soFar) : soFar ? growingRows(before, soFar) : [];
  const ranges: Range<Decoration>[] = [];
  let added: Row[] = [];
  let number = 0;
  const flush = (): void => {
    if (added.length > 0) {
      const [at, side] = number === 0 ? [0, -1] : [doc.line(number).to, 1];
      const widget = new OtherLines(added, 'cw-line-added', t('Added'));
      ranges.push(Decoration.widget({ widget, block: true, side }).range(at));
      added = [];
    }
  };
  for (const row of rows) {
    if (row.kind === 'added') {
      added.push(row);
      continue;
    }
    flush();
    const line = doc.line(++number);
    if (row.kind === 'removed' && before !== '') {
      ranges.push(removed.range(line.from), ...wordsOf(row.pieces, line.from));
    }
  }
  flush();
  return Decoration.set(ranges, true);
}
