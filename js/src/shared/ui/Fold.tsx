import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';

/** One line that opens. What is inside is not drawn before somebody looks. */
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
