import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';

interface SectionProps {
  title: string;
  /** Value of the data attribute, for finding it on the page. */
  part?: string;
  /** Shown at the right of the heading. */
  count?: ComponentChildren;
  /** Initial state. */
  open?: boolean;
  /** Rendered, and so loaded, on first opening. */
  children: () => ComponentChildren;
}

/** A collapsible section of the panel. */
export function Section({ title, part, count, open = true, children }: SectionProps): VNode {
  const [isOpen, setOpen] = useState(open);
  const [seen, setSeen] = useState(open);
  const toggled = (now: boolean): void => {
    setOpen(now);
    setSeen(before => before || now);
  };
  return (
    <details
      class="cw-part"
      data-part={part}
      open={isOpen}
      onToggle={event => toggled(event.currentTarget.open)}
    >
      <summary class="cw-heading">
        <h2>{title}</h2>
        {count !== undefined && <span class="cw-heading-count">{count}</span>}
      </summary>
      {seen && <div class="cw-part-body">{children()}</div>}
    </details>
  );
}
