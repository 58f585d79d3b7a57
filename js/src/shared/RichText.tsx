import { render, type VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { CodeTools } from './CodeBlock';
import { HostProvider, useHost, type CardHost } from './host';
import { blocks } from './markdown';
import { t } from './translate';
import { bounded, visible } from './visible';

/** What is drawn at once; more would make one message as long as the notebook. */
const MOST_AT_ONCE = 30_000;

/** What an agent wrote, as Markdown. */
export function RichText({ text, most = MOST_AT_ONCE }: { text: string; most?: number | undefined }): VNode {
  const [all, setAll] = useState(false);
  const shown = all ? text : bounded(text, most);
  const host = useHost();
  return (
    <>
      {host.renderMarkdown ? <HostText text={shown} host={host} draw={host.renderMarkdown} /> : <OwnText text={shown} />}
      {shown.length < text.length && (
        <button type="button" class="cw-link" onClick={() => setAll(true)}>
          {t('Show all of it')}
        </button>
      )}
    </>
  );
}

function OwnText({ text }: { text: string }): VNode {
  return <div class="cw-md">{useMemo(() => blocks(text), [text])}</div>;
}

interface HostTextProps {
  text: string;
  host: CardHost;
  draw: NonNullable<CardHost['renderMarkdown']>;
}

/** The host draws by itself; until it has, and if it cannot, our own drawing stands. */
function HostText({ text, host, draw }: HostTextProps): VNode {
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

/** Our buttons below the code that the host has drawn; gives the way to take them away. */
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
