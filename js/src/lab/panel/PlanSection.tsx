import type { VNode } from 'preact';

import { Button } from '../../shared/ui/Button';
import { Fold } from '../../shared/ui/Fold';
import { inline } from '../../shared/text/markdown';
import { History } from '../card/extras';
import { StepMark } from '../../shared/plan/StepMark';
import type { PlanAnswer, PlanStep } from '../../shared/types';
import { planOf } from '../../shared/run/parse';
import { isFinal } from '../../shared/run/state';
import { t } from '../../shared/text/translate';
import { bounded, visible } from '../../shared/text/visible';
import { useFollowed, usePanel } from './context';
import { Section } from './Section';

const RELOAD_EVENTS = [
  'plan-update',
  'job-started',
  'task-started',
  'task-completed',
  'job-completed',
  'permission-request',
  'question-asked'
];
/** Longer plans show only the steps around the current one. */
const MAX_STEPS = 12;

/** Progress of the conversation's plan: of the one that runs, else of the newest. */
export function PlanSection({ context }: { context: string }): VNode | null {
  const { channel, open } = usePanel();
  const { value } = useFollowed<PlanAnswer>(
    `context/${context}/plan?running=true`,
    RELOAD_EVENTS,
    context
  );
  if (!value?.plan) {
    return null;
  }
  const { steps } = planOf({ ...value.plan });
  const done = steps.filter(step => step.status === 'completed').length;
  const shown = around(steps);
  return (
    <Section title={t('Plan')} count={t('%1 / %2', String(done), String(steps.length))}>
      {() => (
        <>
          <ol class="cw-list">
            {shown.map(step => (
              <li key={step.id} class="cw-row cw-plan-line">
                <StepMark number={step.step_number} status={step.status} />
                <span class={step.status === 'pending' ? 'cw-dim' : ''}>
                  {inline(visible(bounded(step.action, 200)))}
                </span>
              </li>
            ))}
          </ol>
          {value.revision > 1 && value.plan && (
            <div class="cw-row">
              <Fold summary={t('History')}>
                {() => (
                  <History
                    channel={channel}
                    context={context}
                    planId={value.plan?.id ?? ''}
                    revision={value.revision}
                  />
                )}
              </Fold>
            </div>
          )}
          <p class="cw-row">
            <Button look="link" onClick={() => open(context)}>
              {shown.length < steps.length
                ? t('Show all %1 steps', String(steps.length))
                : t('Open the plan')}
            </Button>
          </p>
        </>
      )}
    </Section>
  );
}

function around(steps: readonly PlanStep[]): readonly PlanStep[] {
  const first = Math.max(0, steps.findIndex(step => !isFinal(step.status)) - 2);
  const start = Math.max(0, Math.min(first, steps.length - MAX_STEPS));
  return steps.slice(start, start + MAX_STEPS);
}
