import type { VNode } from 'preact';

import { Assumptions } from '../effects/Assumptions';
import { moment } from '../text/format';
import { Fold } from '../ui/Fold';
import { useHost } from '../card/host';
import { inline } from '../text/markdown';
import { Note } from '../ui/Note';
import type { Audit, Plan, PlanStep, StepStatus } from '../types';
import { useRun } from '../run/context';
import { entriesOfTask } from '../run/grouping';
import { executionOf, isFinal, isPlanReady, waitsIn, type RunState } from '../run/state';
import { counted, t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';
import { Graph } from './Graph';
import { hasDependencies, isChain } from './layout';
import { StepRow } from './StepRow';

/** Longer plans scroll in their own box, so that the notebook stays navigable. */
const LONG_PLAN = 20;

/** The task is ahead of the plan, which is updated only a few times a second. */
export function stepStatus(state: RunState, step: PlanStep): StepStatus {
  const task = state.tasks[step.id];
  const status = task?.status ?? step.status;
  return task && waitsIn(state, task.id) && status === 'running' ? 'waiting' : status;
}

export function PlanView({
  state,
  plan,
  audit
}: {
  state: RunState;
  plan: Plan;
  audit: Audit | null;
}): VNode {
  const { actions, live } = useRun();
  const { History } = useHost();
  const { steps } = plan;
  const begun = !isPlanReady(state);
  const chain = isChain(steps);
  const job = executionOf(state);
  const stoppedJob = job !== null && isFinal(job.status) && state.busy === null ? job.id : null;
  return (
    <div class="cw-plan">
      <p class="cw-goal">{inline(visible(bounded(plan.goal, 2000)))}</p>
      {!begun && <Prerequisites state={state} plan={plan} />}
      <Assumptions of={{ plan_id: plan.id }} assumptions={plan.assumptions} />
      <ol
        class={steps.length > LONG_PLAN ? 'cw-steps cw-steps-long' : 'cw-steps'}
        aria-label={t('Steps')}
        {...(steps.length > LONG_PLAN ? { tabIndex: 0 } : {})}
      >
        {steps.map(step => {
          const task = state.tasks[step.id] ?? null;
          return (
            <StepRow
              key={step.id}
              step={step}
              {...(step.role ? { role: step.role } : {})}
              status={stepStatus(state, step)}
              task={task}
              entries={task ? entriesOfTask(state, task.id) : []}
              earlier={task ? task.earlier.map(id => entriesOfTask(state, id)) : []}
              draft={task ? (state.drafts[task.id] ?? null) : null}
              audit={audit?.steps.find(({ id }) => id === step.id) ?? null}
              stoppedJob={stoppedJob}
              after={chain ? '' : describeDependencies(plan, step)}
            />
          );
        })}
      </ol>
      {plan.steps_left_out !== undefined && (
        <p class="cw-dim">
          {counted(plan.steps_left_out, '… and %1 more step', '… and %1 more steps')}
        </p>
      )}
      {!chain && hasDependencies(steps) && (
        <Graph steps={steps} status={step => stepStatus(state, step)} />
      )}
      <p class="cw-dim">{about(state, plan)}</p>
      {History && live && state.revision > 1 && (
        <Fold summary={t('History')}>
          {() => <History {...actions.place} revision={state.revision} />}
        </Fold>
      )}
    </div>
  );
}

/** What to know before approving. */
function Prerequisites({ state, plan }: { state: RunState; plan: Plan }): VNode {
  return (
    <>
      {state.stale.length > 0 && (
        <Note>
          <strong>{t('Out of date')}</strong>{' '}
          {t(
            'Changed since the plan was made: %1',
            state.stale.map(path => oneLine(path, 120)).join(', ')
          )}
        </Note>
      )}
      {plan.risks.length > 0 && (
        <Note>
          <strong>{counted(plan.risks.length, 'Risk', 'Risks')}</strong>{' '}
          {inline(plan.risks.map(risk => visible(bounded(risk, 1000))).join(' · '))}
        </Note>
      )}
      {plan.prerequisites.length > 0 && (
        <p class="cw-need">
          <strong>{t('Needs')}</strong>{' '}
          {inline(plan.prerequisites.map(need => visible(bounded(need, 1000))).join(' · '))}
        </p>
      )}
    </>
  );
}

function describeDependencies(plan: Plan, step: PlanStep): string {
  const numbers = step.depends_on
    .map(id => plan.steps.find(one => one.id === id)?.step_number)
    .filter(one => one !== undefined);
  return numbers.length > 0 ? t('after %1', numbers.join(', ')) : t('at once');
}

function about(state: RunState, plan: Plan): string {
  const made = state.madeAt ? t('Made %1', moment(state.madeAt)) : '';
  const edited = state.revision > 1 ? t('revision %1', String(state.revision)) : '';
  const time = plan.estimated_total_time
    ? t('estimate: %1', oneLine(plan.estimated_total_time, 60))
    : '';
  return [made, edited, time].filter(Boolean).join(' · ');
}
