/**
 * Parts of a card that can be commented on: a diff, a plan step, an output, or some lines of one.
 */

import { t } from '../../../shared/text/translate';

export interface Place {
  /** For people, such as `step 2`. */
  name: string;
  /** How the comment to the agent begins. */
  words: string;
  /** The selected lines. */
  quote: string;
  element: HTMLElement;
}

export const COMMENTABLE = '.cw-diff, .cw-output, .cw-step';
const MAX_QUOTE = 1000;

export function placeOf(node: Node | null, card: HTMLElement): HTMLElement | null {
  const element = node instanceof Element ? node : (node?.parentElement ?? null);
  const found = element?.closest<HTMLElement>(COMMENTABLE) ?? null;
  return found && card.contains(found) ? found : null;
}

/** Null if the selection is empty or contains no text. */
export function selectedIn(page: Document): Range | null {
  const selection = page.getSelection();
  return selection?.rangeCount && selection.toString().trim() ? selection.getRangeAt(0) : null;
}

/** Describes a part of the card, narrowed to the selection in it. */
export function commented(element: HTMLElement): Place {
  const range = selectedIn(element.ownerDocument);
  const isInside = range !== null && element.contains(range.startContainer);
  if (element.matches('.cw-diff')) {
    return ofDiff(element, isInside ? range : null);
  }
  const selected = isInside ? range.toString().trim().slice(0, MAX_QUOTE) : '';
  if (element.matches('.cw-step')) {
    const text = (selector: string): string =>
      element.querySelector(selector)?.textContent?.trim() ?? '';
    const number = String(element.dataset['step'] ?? '');
    return {
      name: t('step %1', number),
      words: t('In step %1 “%2”', number, text('.cw-step-action').slice(0, 200)),
      quote: selected,
      element
    };
  }
  const call = element.closest('.cw-call')?.querySelector('.cw-call-line')?.textContent?.trim();
  return {
    name: t('the output'),
    words: call ? t('In the output of “%1”', call.slice(0, 200)) : t('In the output'),
    quote: selected,
    element
  };
}

function ofDiff(element: HTMLElement, range: Range | null): Place {
  const lines = [...element.children].map(({ textContent }) => (textContent ?? '').trimEnd());
  const chosen = [...element.children].flatMap((child, at) =>
    range === null || range.intersectsNode(child) ? [at] : []
  );
  const numbers = numbersOf(lines);
  const placed = chosen.map(at => numbers[at] ?? 0).filter(Boolean);
  const [first, last] = [Math.min(...placed), Math.max(...placed)];
  const file =
    lines.find(line => line.startsWith('+++ '))?.replace(/^\+\+\+ (?:b\/)?/, '') ??
    element.getAttribute('aria-label') ??
    '';
  const isWhole = range === null || placed.length === 0;
  const where =
    first === last ? t('line %1', String(first)) : t('lines %1–%2', String(first), String(last));
  return {
    name: isWhole ? file : `${file}, ${where}`,
    words: isWhole ? t('In the diff of %1', file) : t('In the diff of %1, %2', file, where),
    quote: isWhole
      ? ''
      : chosen
          .map(at => lines[at])
          .join('\n')
          .slice(0, MAX_QUOTE),
    element
  };
}

/** Line numbers in the new file; 0 for lines that are not in it. */
function numbersOf(lines: readonly string[]): number[] {
  let next = 1;
  let isHunk = !lines.some(line => line.startsWith('@@'));
  return lines.map(line => {
    const start = /^@@ -\S+ \+(\d+)/.exec(line);
    if (start) {
      next = Number(start[1]);
      isHunk = true;
      return 0;
    }
    if (!isHunk || /^(\+\+\+|---|diff |index )/.test(line)) {
      return 0;
    }
    return line.startsWith('-') ? next : next++;
  });
}

export function asMessage(comments: readonly (Place & { text: string })[]): string {
  return comments
    .map(({ words, quote, text }) => {
      const quoted = quote && `\n${quote.replace(/^/gm, '> ')}\n`;
      return quoted ? `${words}:${quoted}${text}` : `${words}: ${text}`;
    })
    .join('\n\n');
}
