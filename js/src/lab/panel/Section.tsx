import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';

interface SectionProps {
  title: string;
  /** What it is, for those who look for it on the page. */
  part?: string;
  /** At the right of the heading: how many, how far. */
  count?: ComponentChildren;
  /** How it is at first; then the user decides. */
  open?: boolean;
  /** Drawn, and so asked for, only once somebody has opened it. */
  children: () => ComponentChildren;
}

/** A part of the panel under a heading that folds it up. */
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
