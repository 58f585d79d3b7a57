/** Text that the page draws with its own Markdown, with our buttons below each piece of code. */

import { render, type ComponentType, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { CodeTools } from '../../shared/text/CodeBlock';
import { HostProvider, useHost, type CardHost } from '../../shared/card/host';
import { OwnText } from '../../shared/text/RichText';
import { visible } from '../../shared/text/visible';

/** Draws Markdown of strangers into the node, sanitised. */
export type Draw = (source: string, node: HTMLElement) => Promise<void>;

export function drawnBy(draw: Draw): ComponentType<{ text: string }> {
  return ({ text }) => <HostText text={text} draw={draw} />;
}

/** Until the page has drawn it, and if it cannot, our own drawing stands. */
function HostText({ text, draw }: { text: string; draw: Draw }): VNode {
  const host = useHost();
  const place = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState<HTMLElement | null>(null);
  useEffect(() => {
    let current = true;
    const node = document.createElement('div');
    draw(visible(text), node).then(
      () => {
        if (current) {
          place.current?.replaceChildren(node);
          setDrawn(node);
        }
      },
      () => undefined
    );
    return () => {
      current = false;
    };
  }, [text, draw]);
  useEffect(() => (drawn === null ? undefined : addTools(drawn, host)), [drawn, host]);
  return (
    <>
      <div class="cw-host-md" ref={place} hidden={drawn === null} />
      {drawn === null && <OwnText text={text} />}
    </>
  );
}

/** Gives the way to take them away. */
function addTools(node: HTMLElement, host: CardHost): () => void {
  const slots = [...node.querySelectorAll('pre')].map(pre => {
    const slot = document.createElement('div');
    pre.after(slot);
    const language = /language-(\S+)/.exec(pre.querySelector('code')?.className ?? '')?.[1] ?? '';
    const code = (pre.textContent ?? '').replace(/\n$/, '');
    render(
      <HostProvider value={host}>
        <CodeTools code={code} language={language} />
      </HostProvider>,
      slot
    );
    return slot;
  });
  return () => {
    for (const slot of slots) {
      render(null, slot);
      slot.remove();
    }
  };
}
