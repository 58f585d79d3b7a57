import type { VNode } from 'preact';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { CopyButton } from '../ui/CopyButton';
import { useHost } from '../card/host';
import { t } from './translate';

/** What is fenced like code, but would do nothing good in a cell. */
const NOT_FOR_CELLS = /^(bash|console|csv|diff|html|json|mermaid|sh|shell|text|toml|xml|yaml)$/i;

/** Code in an answer, with what one would do with it. */
export function CodeBlock({ code, language }: { code: string; language: string }): VNode {
  return (
    <div class="cw-snippet">
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
      <CodeTools code={code} language={language} />
    </div>
  );
}

/** Copies the code, or makes a cell of it where the page around the card can. */
export function CodeTools({ code, language }: { code: string; language: string }): VNode {
  return (
    <div class="cw-snippet-tools">
      <CopyButton text={code} label={t('Copy this code')} />
      {!NOT_FOR_CELLS.test(language) && <InsertButton code={code} label={t('Insert as cell')} />}
    </div>
  );
}

/** Makes a cell of code; nothing where the page around the card cannot. */
export function InsertButton({ code, label }: { code: string; label: string }): VNode | null {
  const { insertCell } = useHost();
  const inserting = useAction();
  return insertCell ? (
    <>
      <Button busy={inserting.busy} onClick={() => void inserting.run(() => insertCell(code))}>
        {label}
      </Button>
      <Failure error={inserting.error} />
    </>
  ) : null;
}
