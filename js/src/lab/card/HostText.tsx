/** Renders text with Lab's Markdown, with our buttons below each code block. */

import { render, type ComponentType, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { CodeTools } from '../../shared/text/CodeBlock';
import { HostProvider, useHost, type CardHost } from '../../shared/card/host';
import { OwnText } from '../../shared/text/RichText';
import { visible } from '../../shared/text/visible';

/** Renders untrusted Markdown into the node, sanitised. */
export type Draw = (source: string, node: HTMLElement) => Promise<void>;

export function drawnBy(draw: Draw): ComponentType<{ text: string }> {
  return ({ text }) => <HostText text={text} draw={draw} />;
}

/** Shows our own rendering until the host's is ready, or if it fails. */
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

/** Returns a function that removes them. */
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
