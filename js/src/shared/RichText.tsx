import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { useHost } from './host';
import { blocks } from './markdown';
import { t } from './translate';
import { bounded, visible } from './visible';

/** What is drawn at once; more would make one message as long as the notebook. */
const MOST_AT_ONCE = 30_000;

/** What an agent wrote, as Markdown. */
export function RichText({ text, most = MOST_AT_ONCE }: { text: string; most?: number | undefined }): VNode {
  const [all, setAll] = useState(false);
  const shown = all ? text : bounded(text, most);
  const { renderMarkdown } = useHost();
  return (
    <>
      {renderMarkdown ? <HostText text={shown} render={renderMarkdown} /> : <OwnText text={shown} />}
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

/** The host draws by itself; until it has, and if it cannot, our own drawing stands. */
function HostText({ text, render }: { text: string; render: (source: string, node: HTMLElement) => Promise<void> }): VNode {
  const place = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    let current = true;
    const node = document.createElement('div');
    render(visible(text), node).then(
      () => {
        if (current) {
          place.current?.replaceChildren(node);
          setDrawn(true);
        }
      },
      () => undefined
    );
    return () => {
      current = false;
    };
  }, [text, render]);
  return (
    <>
      <div class="cw-host-md" ref={place} hidden={!drawn} />
      {!drawn && <OwnText text={text} />}
    </>
  );
}
