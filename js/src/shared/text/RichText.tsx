import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { useHost } from '../card/host';
import { blocks } from './markdown';
import { t } from './translate';
import { bounded } from './visible';

/** Longer messages are folded, or one message would be as long as the notebook. */
const MAX_AT_ONCE = 30_000;

export function RichText({
  text,
  most = MAX_AT_ONCE
}: {
  text: string;
  most?: number | undefined;
}): VNode {
  const [all, setAll] = useState(false);
  const shown = all ? text : bounded(text, most);
  const { Markdown = OwnText } = useHost();
  return (
    <>
      <Markdown text={shown} />
      {shown.length < text.length && (
        <button type="button" class="cw-link" onClick={() => setAll(true)}>
          {t('Show all of it')}
        </button>
      )}
    </>
  );
}

export function OwnText({ text }: { text: string }): VNode {
  return <div class="cw-md">{useMemo(() => blocks(text), [text])}</div>;
}
