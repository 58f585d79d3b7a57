import type { VNode } from 'preact';

import type { Check } from './connectionCheck';
import { Button } from '../ui/Button';
import { t } from '../text/translate';

interface CheckButtonProps {
  check: Check;
  onCheck: () => void;
  /** Secondary look, where another button is the primary one. */
  plain?: boolean;
}

export function CheckButton({ check, onCheck, plain = false }: CheckButtonProps): VNode {
  const busy = check.state === 'busy';
  return (
    <Button look={plain ? 'plain' : 'primary'} busy={busy} onClick={onCheck}>
      {busy ? t('Checking…') : t('Check connection')}
    </Button>
  );
}
