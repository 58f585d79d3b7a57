import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';

/** A disclosure whose content renders on first opening. */
export function Fold({
  summary,
  children,
  open = false
}: {
  summary: ComponentChildren;
  children: () => ComponentChildren;
  open?: boolean;
}): VNode {
  const [seen, setSeen] = useState(open);
  return (
    <details
      class="cw-fold"
      open={open}
      onToggle={event => setSeen(before => before || event.currentTarget.open)}
    >
      <summary>{summary}</summary>
      {seen && <div class="cw-fold-body">{children()}</div>}
    </details>
  );
}
