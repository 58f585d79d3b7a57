import type { ComponentChildren, VNode } from 'preact';

interface CardProps {
  /**
   * The colour of the left edge: a role's colour, `ask` when the user must act, `error` when
   * something failed.
   */
  edge: string;
  label: string;
  header: ComponentChildren;
  /** Muted text at the right of the header: model, cost, time. */
  aside?: ComponentChildren;
  /** Right below the header, from edge to edge: how far it has come. */
  progress?: ComponentChildren;
  footer?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame that all cards share, so that the eye finds the same thing in the same place. */
export function Card({ edge, label, header, aside, progress, footer, children }: CardProps): VNode {
  return (
    // A group, not a landmark: a notebook may hold dozens. And Lab would take keys for its own: a
    // focused button and the letter D twice, and the cell is gone.
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
