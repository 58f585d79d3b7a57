import type { VNode } from 'preact';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { CopyButton } from '../ui/CopyButton';
import { useHost } from '../card/host';
import { t } from './translate';

/** Fenced languages that make no sense in a cell. */
const NOT_FOR_CELLS = /^(bash|console|csv|diff|html|json|mermaid|sh|shell|text|toml|xml|yaml)$/i;

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

/** Copy, or insert as a cell if the host can. */
export function CodeTools({ code, language }: { code: string; language: string }): VNode {
  return (
    <div class="cw-snippet-tools">
      <CopyButton text={code} label={t('Copy this code')} />
      {!NOT_FOR_CELLS.test(language) && <InsertButton code={code} label={t('Insert as cell')} />}
    </div>
  );
}

/** Renders nothing if the host cannot insert cells. */
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
