import type { VNode } from 'preact';

import { Icon } from '../ui/icons';
import type { StepStatus } from '../types';
import { t } from '../text/translate';

const LOOKS: Record<StepStatus, { icon: string; colour: string }> = {
  pending: { icon: '', colour: 'grey' },
  running: { icon: 'spinner', colour: 'blue' },
  waiting: { icon: 'question', colour: 'ask' },
  completed: { icon: 'check', colour: 'ok' },
  failed: { icon: 'cross', colour: 'error' },
  skipped: { icon: 'minus', colour: 'grey' },
  cancelled: { icon: 'stop', colour: 'grey' },
  interrupted: { icon: 'pause', colour: 'ask' }
};

export function statusColour(status: StepStatus): string {
  return LOOKS[status]?.colour ?? 'grey';
}

export function statusLabel(status: StepStatus): string {
  switch (status) {
    case 'running':
      return t('running');
    case 'waiting':
      return t('waiting for you');
    case 'completed':
      return t('completed');
    case 'failed':
      return t('failed');
    case 'skipped':
      return t('skipped');
    case 'cancelled':
      return t('stopped');
    case 'interrupted':
      return t('interrupted');
    default:
      return t('not started');
  }
}

/** The step's number, then an icon for its status, with a label for screen readers. */
export function StepMark({ number, status }: { number: number; status: StepStatus }): VNode {
  const look = LOOKS[status] ?? LOOKS.pending;
  return (
    <span class={`cw-step-mark cw-colour-${look.colour}`}>
      {look.icon === '' ? (
        <span class="cw-step-number">{number}</span>
      ) : (
        <span role="img" aria-label={t('Step %1, %2', String(number), statusLabel(status))}>
          {look.icon === 'spinner' ? <span class="cw-spinner" /> : <Icon name={look.icon} />}
        </span>
      )}
    </span>
  );
}
