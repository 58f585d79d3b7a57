import type { ComponentChildren, VNode } from 'preact';

interface CardProps {
  /** The colour of the left edge: a role's colour, `ask` when the user must act, `error` when something failed. */
  edge: string;
  label: string;
  header: ComponentChildren;
  /** Muted text at the right of the header: model, cost, time. */
  aside?: ComponentChildren;
  footer?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame that all cards share, so that the eye finds the same thing in the same place. */
export function Card({ edge, label, header, aside, footer, children }: CardProps): VNode {
  return (
    <section class={`cw-card cw-colour-${edge}`} aria-label={label}>
      <header class="cw-head">
        {header}
        <span class="cw-grow" />
        {aside}
      </header>
      <div class="cw-body">{children}</div>
      {footer && <footer class="cw-foot">{footer}</footer>}
    </section>
  );
}
