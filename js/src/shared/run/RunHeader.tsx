import type { VNode } from 'preact';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { clock, moment, money, speed, tokens } from '../text/format';
import { stepStatus } from '../plan/PlanView';
import { RolePill } from '../role/RolePill';
import { RoleSwitcher } from '../role/RoleSwitcher';
import { counted, translateKnown, t } from '../text/translate';
import { oneLine } from '../text/visible';
import { Clock } from './Clock';
import { useRun } from './context';
import {
  isFinal,
  currentRole,
  isPlanReady,
  presentJob,
  roleOf,
  statusOf,
  type Pace,
  type RunState
} from './state';
import type { Link } from './store';

/** Whom the card is about; beside it the conversation's role, if that is another. */
export function RunHeader({ state }: { state: RunState }): VNode {
  const { actions, live } = useRun();
  const [role, current] = [roleOf(state), currentRole(state)];
  const switcher = live && (
    <RoleSwitcher
      role={current}
      channel={actions.reach.channel}
      onSwitch={(chosen, confirm) => actions.switchRole(chosen, confirm)}
    />
  );
  const isSame = role === current;
  return (
    <>
      {(isSame && switcher) || <RolePill role={role} />}
      {role === 'planner' && <span class="cw-dim">{t('read-only')}</span>}
      {!isSame && switcher}
      <StateLabel state={state} />
    </>
  );
}

function StateLabel({ state }: { state: RunState }): VNode | null {
  const status = statusOf(state);
  const job = presentJob(state);
  const isOver = status !== null && isFinal(status);
  if (isOver && isPlanReady(state) && (status === 'completed' || job?.kind === 'plan')) {
    return <span class="cw-title">{t('Plan ready')}</span>;
  }
  switch (status) {
    case 'running':
      return job?.kind === 'plan' && !isPlanReady(state) ? (
        <span class="cw-title">{stepOf(state)}</span>
      ) : (
        <span class="cw-dim cw-working">
          <span class="cw-spinner" aria-hidden="true" />
          {t('Working…')}
        </span>
      );
    case 'waiting':
      return <Word colour="ask">{t('Waiting for you')}</Word>;
    case 'completed':
      return <Word colour="ok">{t('Completed')}</Word>;
    case 'failed':
      return <Word colour="error">{t('Failed')}</Word>;
    case 'cancelled':
      return <Word colour="grey">{t('Stopped')}</Word>;
    case 'interrupted':
      return <Word colour="ask">{t('Interrupted')}</Word>;
    default:
      return null;
  }
}

function Word({ colour, children }: { colour: string; children: string }): VNode {
  return <span class={`cw-title cw-ink cw-colour-${colour}`}>{children}</span>;
}

function stepOf(state: RunState): string {
  const steps = state.plan?.steps ?? [];
  const ended = steps.filter(step => isFinal(stepStatus(state, step))).length;
  return t('Step %1 of %2', String(Math.min(ended + 1, steps.length)), String(steps.length));
}

/** Cost so far, and Stop. */
export function RunFigures({ state, link }: { state: RunState; link: Link }): VNode {
  const { actions, live } = useRun();
  const stopping = useAction();
  const job = presentJob(state);
  const { usage } = state;
  const isRunning = job !== null && !isFinal(job.status) && link !== 'record';
  const parts = [
    state.model && oneLine(translateKnown(state.model), 40),
    usage.total_tokens > 0 && tokens(usage.total_tokens),
    usage.cost && money(usage.cost, usage.currency || undefined),
    !isRunning && state.plan === null && job?.startedAt && moment(job.startedAt)
  ].filter(Boolean);
  return (
    <span class="cw-figures">
      {link === 'reconnecting' && (
        <span class="cw-dim" role="status">
          {t('Reconnecting…')}
        </span>
      )}
      <span class="cw-dim">
        {job && (
          <>
            <Clock time={job} isOver={!isRunning} />
            {isRunning && <TimeLeft state={state} />}
            {isRunning && state.pace && <OutputSpeed pace={state.pace} />}
            {parts.length > 0 && ' · '}
          </>
        )}
        {parts.join(' · ')}
      </span>
      {isRunning && live && (
        <Button
          icon="stop"
          busy={stopping.busy}
          onClick={() => void stopping.run(() => actions.cancel(job.id))}
        >
          {t('Stop')}
        </Button>
      )}
      <Failure error={stopping.error} />
    </span>
  );
}

/** Output speed; its tooltip has what is left of the limits. */
function OutputSpeed({ pace }: { pace: Pace }): VNode {
  const turns = counted(pace.turns_left, '%1 turn', '%1 turns');
  const left = t('%1 and %2 of waiting left', turns, clock(pace.seconds_left));
  return <> · {[speed(pace.rate), left].join(' · ')}</>;
}

/** Estimated from the finished steps. */
function TimeLeft({ state }: { state: RunState }): VNode | null {
  const steps = state.plan?.steps ?? [];
  const spans = steps
    .map(step => state.tasks[step.id])
    .flatMap(task => (task && isFinal(task.status) && task.worked > 0 ? [task.worked] : []));
  const left = steps.filter(step => !isFinal(stepStatus(state, step))).length;
  if (spans.length === 0 || left === 0 || statusOf(state) !== 'running') {
    return null;
  }
  const each = spans.reduce((sum, span) => sum + span, 0) / spans.length;
  return <> · {t('about %1 left', clock(each * left))}</>;
}

/** Stopped steps do not count as done. */
export function Progress({ state }: { state: RunState }): VNode | null {
  const steps = state.plan?.steps ?? [];
  if (steps.length === 0 || isPlanReady(state)) {
    return null;
  }
  const done = steps.filter(step => stepStatus(state, step) === 'completed').length;
  return (
    <div
      class="cw-progress"
      role="progressbar"
      aria-label={t('Steps')}
      aria-valuemin={0}
      aria-valuemax={steps.length}
      aria-valuenow={done}
    >
      <span style={{ width: `${(100 * done) / steps.length}%` }} />
    </div>
  );
}
