import type { VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { blocks } from './markdown';
import { visible } from './visible';

/**
 * Renders text while it streams: complete blocks once as Markdown, the rest as plain text that only
 * grows. The cost per piece does not depend on the length.
 */
export function StreamText({ text }: { text: string }): VNode {
  const [settled, setSettled] = useState<string[]>([]);
  const tail = useRef<HTMLDivElement>(null);
  const place = useRef({ start: 0, shown: 0 });

  useLayoutEffect(() => {
    const { start, shown } = place.current;
    if (text.length < shown) {
      // The reply started over.
      place.current = { start: 0, shown: text.length };
      setSettled([]);
      tail.current?.replaceChildren(visible(text));
      return;
    }
    const end = start + endOfBlocks(text.slice(start));
    if (end > start) {
      const block = text.slice(start, end);
      setSettled(before => [...before, block]);
      tail.current?.replaceChildren(visible(text.slice(end)));
    } else if (text.length > shown) {
      append(tail.current, visible(text.slice(shown)));
    }
    place.current = { start: end, shown: text.length };
  }, [text]);

  return (
    <div class="cw-md cw-streaming">
      {settled.map((block, index) => (
        <Settled key={index} text={block} />
      ))}
      <div class="cw-tail" ref={tail} />
    </div>
  );
}

function Settled({ text }: { text: string }): VNode {
  return useMemo(() => <div>{blocks(text)}</div>, [text]);
}

function append(node: HTMLElement | null, text: string): void {
  const last = node?.lastChild;
  if (last instanceof Text) {
    last.appendData(text);
  } else {
    node?.append(text);
  }
}

/** End of the last complete block (a blank line outside of code fences), or 0. */
export function endOfBlocks(text: string): number {
  let [end, at, fence] = [0, 0, ''];
  for (const line of text.split('\n')) {
    const next = at + line.length + 1;
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (mark && (fence === '' || mark.startsWith(fence))) {
      fence = fence === '' ? mark : '';
    } else if (fence === '' && line.trim() === '' && next <= text.length) {
      end = next;
    }
    at = next;
  }
  return end;
}
