import type { VNode } from 'preact';

import type { Check } from './connectionCheck';
import { t } from '../text/translate';

interface CheckButtonProps {
  check: Check;
  onCheck: () => void;
  /** Secondary look, where another button is the primary one. */
  plain?: boolean;
}

/** Stays focusable while busy: disabling it would move keyboard focus to the top of the page. */
export function CheckButton({ check, onCheck, plain = false }: CheckButtonProps): VNode {
  const busy = check.state === 'busy';
  return (
    <button
      type="button"
      class={plain ? 'cw-button' : 'cw-button cw-primary'}
      aria-busy={busy}
      aria-disabled={busy}
      onClick={() => {
        if (!busy) {
          onCheck();
        }
      }}
    >
      {busy && <span class="cw-spinner" aria-hidden="true" />}
      {busy ? t('Checking…') : t('Check connection')}
    </button>
  );
}
