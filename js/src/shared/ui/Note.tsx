import type { ComponentChildren, VNode } from 'preact';

import { blocks } from '../text/markdown';
import { said } from '../text/translate';
import { bounded } from '../text/visible';
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

/** Why something did not work, as it was written: lists are lists. */
export function Reason({ text, colour = 'error' }: { text: string; colour?: string }): VNode {
  return (
    <div class={`cw-result cw-colour-${colour}`}>
      <Icon name="alert" />
      <div class="cw-md">{blocks(bounded(said(text), 4000))}</div>
    </div>
  );
}
