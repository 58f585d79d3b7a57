import type { ComponentChildren, VNode } from 'preact';

interface CardProps {
  /** Colour of the left edge: a role's, `ask` if the user must act, or `error`. */
  edge: string;
  label: string;
  header: ComponentChildren;
  /** Muted text at the right: model, cost, time. */
  aside?: ComponentChildren;
  /** Full-width bar below the header. */
  progress?: ComponentChildren;
  footer?: ComponentChildren;
  children: ComponentChildren;
}

export function Card({ edge, label, header, aside, progress, footer, children }: CardProps): VNode {
  return (
    // A group, not a landmark: a notebook may hold dozens. Shortcuts are suppressed, or Lab would
    // delete the cell when D is pressed twice on a focused button.
    <div
      role="group"
      class={`cw-card cw-colour-${edge}`}
      aria-label={label}
      tabIndex={-1}
      data-lm-suppress-shortcuts="true"
    >
      <header class="cw-head">
        {header}
        <span class="cw-grow" />
        {aside}
      </header>
      {progress}
      <div class="cw-body">{children}</div>
      {footer && <footer class="cw-foot">{footer}</footer>}
    </div>
  );
}
