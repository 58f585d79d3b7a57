import type { VNode } from 'preact';

import { Icon } from '../icons';
import { blocks } from '../markdown';
import { said } from '../translate';
import { bounded } from '../visible';

/** Why something did not work, as it was written: lists are lists. */
export function Reason({ text, colour = 'error' }: { text: string; colour?: string }): VNode {
  return (
    <div class={`cw-result cw-colour-${colour}`}>
      <Icon name="alert" />
      <div class="cw-md">{blocks(bounded(said(text), 4000))}</div>
    </div>
  );
}
