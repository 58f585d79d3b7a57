import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { useHost } from '../card/host';
import type { Figure } from '../types';
import { counted, t } from '../text/translate';
import { oneLine } from '../text/visible';

const NOT_IN = 'pre, code, a, button, script, style, .cw-figure';
const MARKED = 'cw-figure';
/** The host may replace our text with its own rendering later. */
const SETTLED = { childList: true, subtree: true };

/** Links each figure in a text to the output it comes from; figures without a source stand out. */
export function WithFigures({
  figures,
  children
}: {
  figures: readonly Figure[];
  children: ComponentChildren;
}): VNode {
  const place = useRef<HTMLDivElement>(null);
  const { showCell } = useHost();
  useEffect(() => {
    const node = place.current;
    if (node === null || figures.length === 0) {
      return undefined;
    }
    const mark = (): void => markFigures(node, figures, showCell);
    const watcher = new MutationObserver(mark);
    mark();
    watcher.observe(node, SETTLED);
    return () => watcher.disconnect();
  }, [figures, showCell]);
  return (
    <div class="cw-with-figures" ref={place}>
      {children}
      {figures.length > 0 && <Summary figures={figures} />}
    </div>
  );
}

function Summary({ figures }: { figures: readonly Figure[] }): VNode {
  const found = figures.filter(({ source }) => source !== null);
  const missing = figures.filter(({ source }) => source === null);
  const old = found.filter(({ source }) => source?.stale);
  return (
    <p class="cw-dim cw-figure-summary">
      {found.length > 0 &&
        counted(found.length, '%1 figure found in outputs', '%1 figures found in outputs')}
      {old.length > 0 &&
        ` · ${counted(old.length, '%1 from an older run', '%1 from an older run')}`}
      {missing.length > 0 && (
        <span class="cw-colour-ask cw-ink">
          {found.length > 0 && ' · '}
          {t(
            'not found in any output: %1',
            missing.map(({ text }) => oneLine(text, 40)).join(', ')
          )}
        </span>
      )}
    </p>
  );
}

/** Wraps figures in place and in order; skips code. */
function markFigures(
  node: HTMLElement,
  figures: readonly Figure[],
  showCell?: (cellId: string) => void
): void {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    const text = walker.currentNode as Text;
    if (!text.parentElement?.closest(`${NOT_IN}, .cw-figure-summary`)) {
      texts.push(text);
    }
  }
  const waiting = [...figures];
  for (const text of texts) {
    let rest: Text | null = text;
    while (rest !== null) {
      rest = markFirst(rest, waiting, showCell);
    }
  }
}

/** Returns the text node after the first match, or null. */
function markFirst(
  text: Text,
  waiting: Figure[],
  showCell?: (cellId: string) => void
): Text | null {
  const places = waiting
    .map((figure, order) => ({ figure, order, at: placeOf(text.data, figure.text) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at || one.order - other.order);
  const first = places[0];
  if (first === undefined) {
    return null;
  }
  waiting.splice(waiting.indexOf(first.figure), 1);
  const found = text.splitText(first.at);
  const rest = found.splitText(first.figure.text.length);
  found.replaceWith(drawn(first.figure, showCell));
  return rest;
}

/** Index of a figure that is not part of a longer number, or -1. */
function placeOf(text: string, figure: string): number {
  let at = text.indexOf(figure);
  while (at >= 0 && !isWhole(text, at, figure.length)) {
    at = text.indexOf(figure, at + 1);
  }
  return at;
}

function isWhole(text: string, at: number, length: number): boolean {
  return !/[\d.,]/.test(text[at - 1] ?? '') && !/^\d|^[.,]\d/.test(text.slice(at + length));
}

function drawn({ text, source }: Figure, showCell?: (cellId: string) => void): HTMLElement {
  const cell = source?.cell_id;
  const leads = cell && showCell;
  const node = document.createElement(leads ? 'button' : 'span');
  node.className = source === null ? `${MARKED} cw-figure-lost` : MARKED;
  node.textContent = text;
  node.title =
    source === null
      ? t('Not found in any output')
      : source.stale
        ? t('From an older run of its cell')
        : cell
          ? t('Show the source cell')
          : t('From the output of a tool');
  if (leads) {
    (node as HTMLButtonElement).type = 'button';
    node.addEventListener('click', () => showCell(cell));
  }
  return node;
}
