import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';

import { useResume } from '../run/Resume';
import { toolLabel } from '../ask/labels';
import { Button } from '../ui/Button';
import { countsSentence, diffCounts } from '../ui/Diff';
import { EffectLines } from '../effects/EffectLines';
import { describeExpectation } from '../effects/pins';
import { duration } from '../text/format';
import { Fold } from '../ui/Fold';
import { blocks, inline } from '../text/markdown';
import { RolePill } from '../role/RolePill';
import type { Audit, DataEffect, PlanStep, StepStatus } from '../types';
import { Clock } from '../run/Clock';
import { useRun } from '../run/context';
import { Conversation, Drafts } from '../run/Conversation';
import { Reason } from '../ui/Note';
import type { Draft, Entry, TaskState } from '../run/state';
import { counted, t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';
import { StepMark, statusColour, statusLabel } from './StepMark';

interface StepProps {
  step: PlanStep;
  /** Only if it differs from the card's role. */
  role?: string;
  status: StepStatus;
  task: TaskState | null;
  /** Log of this step. */
  entries: readonly Entry[];
  /** Logs of earlier rounds, before a review sent the step back. */
  earlier: ReadonlyArray<readonly Entry[]>;
  draft: Draft | null;
  audit: Audit['steps'][number] | null;
  /** The stopped job that could resume with this step. */
  stoppedJob: string | null;
  /** "after 1 and 2", if the order of the list does not imply it. */
  after: string;
}

export function StepRow(props: StepProps): VNode {
  const { step, status, task, entries, earlier, draft } = props;
  const hasLog = entries.length > 0 || draft !== null || Boolean(task?.error);
  return (
    <li class={`cw-step cw-step-${status}`} data-step={step.step_number} tabIndex={0}>
      <StepMark number={step.step_number} status={status} />
      <div class="cw-step-main">
        <StepWords {...props} />
        {earlier.map((round, at) => (
          <Fold key={at} summary={<span class="cw-dim">{roundSentence(at + 1, round)}</span>}>
            {() => <Conversation entries={round} />}
          </Fold>
        ))}
        {hasLog && (
          <Fold
            summary={
              <span class="cw-dim">
                {earlier.length > 0
                  ? roundSentence(earlier.length + 1, entries)
                  : logSentence(entries)}
              </span>
            }
          >
            {() => (
              <>
                <Conversation entries={entries} />
                {draft && <Drafts drafts={[draft]} />}
              </>
            )}
          </Fold>
        )}
        <EffectLines effects={effectsOf(entries)} />
        <StepProblem {...props} />
      </div>
      <StepTools step={step} begun={status !== 'pending'} />
      <StepSide {...props} />
    </li>
  );
}

/** Data effects of the step, visible without opening its log. */
function effectsOf(entries: readonly Entry[]): DataEffect[] {
  return entries.flatMap(entry => (entry.kind === 'call' ? entry.effects : []));
}

function StepWords({ step, role, task, status, audit, after }: StepProps): VNode {
  const result = task?.result && status === 'completed' ? task.result : '';
  const back =
    step.rounds > 0 &&
    counted(step.rounds, 'may send the work back %1 time', 'may send the work back %1 times');
  const small = status === 'pending' ? [step.reason, after, back].filter(Boolean).join(' · ') : '';
  const expects = step.expects.map(one => `${one.of}: ${describeExpectation(one)}`).join(' · ');
  return useMemo(
    () => (
      <>
        {(role || step.agent) && (
          <div class="cw-step-who">
            {role && <RolePill role={role} />}
            {step.agent && <span class="cw-chip">{oneLine(step.agent, 60)}</span>}
          </div>
        )}
        <div class="cw-step-action">{inline(visible(bounded(step.action, 2000)))}</div>
        {small && <div class="cw-dim">{inline(visible(bounded(small, 1000)))}</div>}
        {expects && <div class="cw-dim">{t('expects: %1', visible(bounded(expects, 600)))}</div>}
        {result && <div class="cw-dim cw-md">{blocks(bounded(result, 1200))}</div>}
        {audit && <Verdict audit={audit} reasonIsShown={Boolean(task?.error)} />}
      </>
    ),
    [step, role, small, expects, result, audit, task?.error]
  );
}

/** Deviations from the plan; a single line if there are none. */
function Verdict({
  audit,
  reasonIsShown
}: {
  audit: Audit['steps'][number];
  reasonIsShown: boolean;
}): VNode | null {
  const deviations = audit.deviations.filter(({ kind }) => !(kind === 'failed' && reasonIsShown));
  if (deviations.length === 0) {
    return audit.status === 'completed' ? <div class="cw-dim">{t('as planned')}</div> : null;
  }
  return (
    <ul class="cw-deviations cw-colour-ask">
      {deviations.map((deviation, at) => (
        <li key={at}>{visible(bounded(deviation.what, 500))}</li>
      ))}
    </ul>
  );
}

function StepProblem({ task, status, stoppedJob }: StepProps): VNode | null {
  const { actions, live } = useRun();
  const deciding = useResume();
  if (!task?.error || status === 'completed' || status === 'running') {
    return null;
  }
  const decide = (what: 'retry' | 'skip'): void => {
    if (stoppedJob) {
      deciding.start(role => actions.decideTask(stoppedJob, task.id, what, role));
    }
  };
  return (
    <>
      <Reason text={task.error} />
      {live && stoppedJob && status === 'failed' && (
        <div class="cw-bar">
          <Button busy={deciding.busy} onClick={() => decide('retry')}>
            {t('Try again')}
          </Button>
          <Button disabled={deciding.busy} onClick={() => decide('skip')}>
            {t('Skip this step')}
          </Button>
        </div>
      )}
      {deciding.outcome}
    </>
  );
}

/** Planned tools; hidden once the step has begun, when its log says more. */
function StepTools({ step, begun }: { step: PlanStep; begun: boolean }): VNode {
  return (
    <div class="cw-step-tools">
      {!begun &&
        step.tools_needed.map(tool => (
          <span key={tool} class="cw-chip" title={oneLine(tool, 60)}>
            {toolLabel(tool)}
          </span>
        ))}
      {!begun && step.files.length > 0 && (
        <div class="cw-dim">{step.files.map(file => oneLine(file, 120)).join(', ')}</div>
      )}
    </div>
  );
}

function StepSide({ step, status, task, entries, audit }: StepProps): VNode {
  let words: ComponentChildren = step.estimated_time && estimate(step.estimated_time);
  if (status === 'running') {
    words = task && <Clock time={task} />;
  } else if (status === 'completed') {
    const seconds = audit?.actual.seconds ?? task?.worked;
    words = seconds ? duration(seconds) : '';
  } else if (status !== 'pending') {
    words = <span class={`cw-ink cw-colour-${statusColour(status)}`}>{statusLabel(status)}</span>;
  }
  const changes = entries.flatMap(entry =>
    entry.kind === 'call' && entry.diff ? [diffCounts(entry.diff)] : []
  );
  const sum = (key: 'added' | 'removed'): number =>
    changes.reduce((total, one) => total + one[key], 0);
  return (
    <div class="cw-step-side">
      {words}
      {changes.length > 0 && (
        <span
          class="cw-counts"
          role="img"
          aria-label={countsSentence(sum('added'), sum('removed'))}
        >
          <span class="cw-ink cw-colour-ok">+{sum('added')}</span>{' '}
          <span class="cw-ink cw-colour-error">−{sum('removed')}</span>
        </span>
      )}
    </div>
  );
}

function estimate(time: string): string {
  const words = oneLine(time, 40);
  return /^\d/.test(words) ? `~${words}` : words;
}

/** Summary of one round of a step that a review sent back. */
function roundSentence(round: number, entries: readonly Entry[]): string {
  return t('Round %1: %2', String(round), logSentence(entries));
}

function logSentence(entries: readonly Entry[]): string {
  const calls = entries.filter(entry => entry.kind === 'call').length;
  return calls === 0 ? t('Log') : counted(calls, 'Log, %1 tool call', 'Log, %1 tool calls');
}
