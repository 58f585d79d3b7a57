import type { ComponentChildren, VNode } from 'preact';

import { blocks } from '../text/markdown';
import { translateKnown } from '../text/translate';
import { bounded } from '../text/visible';
import { Icon } from './icons';

/** Something the user must see to; amber is reserved for this. */
export function Note({ children }: { children: ComponentChildren }): VNode {
  return (
    <p class="cw-note cw-colour-ask">
      <Icon name="alert" />
      <span>{children}</span>
    </p>
  );
}

/** A failure's reason, rendered as Markdown. */
export function Reason({ text, colour = 'error' }: { text: string; colour?: string }): VNode {
  return (
    <div class={`cw-result cw-colour-${colour}`}>
      <Icon name="alert" />
      <div class="cw-md">{blocks(bounded(translateKnown(text), 4000))}</div>
    </div>
  );
}
