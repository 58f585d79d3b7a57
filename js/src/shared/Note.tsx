import type { ComponentChildren, VNode } from 'preact';

import { Icon } from './icons';

/** Something the user should see to. Amber is kept for exactly this. */
export function Note({ children }: { children: ComponentChildren }): VNode {
  return (
    <p class="cw-note cw-colour-ask">
      <Icon name="alert" />
      <span>{children}</span>
    </p>
  );
}
