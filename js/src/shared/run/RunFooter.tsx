import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { submitting } from '../ui/forms';
import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { useHost } from '../card/host';
import { Changes, RollBack } from '../plan/RollBack';
import { stepStatus } from '../plan/PlanView';
import { t } from '../text/translate';
import { bounded, visible } from '../text/visible';
import { useRun } from './context';
import { useResume } from './Resume';
import { CheckProgress, OfferCheck, useCheck } from './Reproduce';
import {
  executionOf,
  hasTouchedCells,
  isFinal,
  isPlanReady,
  presentJob,
  runningCheck,
  type RunState
} from './state';

type Open = 'none' | 'discuss' | 'rollback' | 'changes' | 'check' | 'save';

/** Next actions. While a job runs, the only one is Stop, in the header. */
export function RunFooter({
  state,
  onEdit
}: {
  state: RunState;
  onEdit: () => void;
}): VNode | null {
  const { actions } = useRun();
  const { SaveWorkflow } = useHost();
  const starting = useAction();
  const resuming = useResume();
  const [open, setOpen] = useState<Open>('none');
  const check = useCheck(state);
  const job = presentJob(state);
  const checking = runningCheck(state);
  if (checking !== null) {
    return check.running && <CheckProgress check={check.running} jobId={checking.id} />;
  }
  if (job === null || !isFinal(job.status) || state.busy !== null) {
    return null;
  }
  const toggle = (what: Open): void => setOpen(open === what ? 'none' : what);
  const execution = executionOf(state);
  const left =
    state.plan?.steps.some(step => !['completed', 'skipped'].includes(stepStatus(state, step))) ??
    false;
  const canExecute = isPlanReady(state);
  const isHalfDone = execution !== null && (execution.status !== 'completed' || left);
  // A discussion of a finished plan can fail, too.
  const stopped = isHalfDone ? execution : job.status === 'completed' ? null : job;
  return (
    <div class="cw-decide">
      {canExecute && state.rights && (
        <p class="cw-rights">{visible(bounded(state.rights, 2000))}</p>
      )}
      <div class="cw-bar">
        {canExecute && (
          <Button
            look="go"
            icon="bolt"
            busy={starting.busy}
            onClick={() => void starting.run(() => actions.execute())}
          >
            {t('Execute plan')}
          </Button>
        )}
        {!canExecute && stopped !== null && (
          <Button
            look="primary"
            busy={resuming.busy}
            onClick={() => resuming.start(role => actions.resume(stopped.id, role))}
          >
            {t('Continue')}
          </Button>
        )}
        {state.plan !== null && left && <Button onClick={onEdit}>{t('Edit steps')}</Button>}
        <Button expanded={open === 'discuss'} onClick={() => toggle('discuss')}>
          {t('Discuss…')}
        </Button>
        {state.plan !== null && (
          <Button
            disabled={starting.busy}
            onClick={() => void starting.run(() => actions.say(replanRequest(), 'planner', true))}
          >
            {t('Re-plan')}
          </Button>
        )}
        {!canExecute && hasTouchedCells(state) && check.notebook !== null && (
          <Button
            expanded={open === 'check'}
            title={t('Runs the whole notebook in a second kernel')}
            onClick={() => toggle('check')}
          >
            {t('Check that it runs…')}
          </Button>
        )}
        {SaveWorkflow && execution !== null && !isHalfDone && (
          <Button expanded={open === 'save'} onClick={() => toggle('save')}>
            {t('Save as workflow…')}
          </Button>
        )}
        {(execution !== null || state.checkpoints > 0) && (
          <>
            <span class="cw-grow" />
            <Button expanded={open === 'changes'} onClick={() => toggle('changes')}>
              {t('Changes')}
            </Button>
            <Button icon="undo" expanded={open === 'rollback'} onClick={() => toggle('rollback')}>
              {t('Roll back…')}
            </Button>
          </>
        )}
      </div>
      {canExecute && !state.rights && (
        <p class="cw-dim">
          {t('Executing switches to Actor and allows just these tools on these files.')}
        </p>
      )}
      <Failure error={starting.error} />
      {resuming.outcome}
      {open === 'check' && check.notebook !== null && (
        <OfferCheck notebook={check.notebook} onClose={() => setOpen('none')} />
      )}
      {open === 'save' && SaveWorkflow && <SaveWorkflow {...actions.place} />}
      {open === 'discuss' && <Discuss onSent={() => setOpen('none')} />}
      {open === 'rollback' && <RollBack onClose={() => setOpen('none')} />}
      {open === 'changes' && <Changes onClose={() => setOpen('none')} />}
    </div>
  );
}

function replanRequest(): string {
  return t('Check the current state, then plan again.');
}

function Discuss({ onSent }: { onSent: () => void }): VNode {
  const { actions } = useRun();
  const { allows, Mentions } = useHost();
  const sending = useAction();
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  // Only on mount: re-renders must not take the focus back.
  useEffect(() => field.current?.focus(), []);
  const send = (): void => {
    void sending.run(() => actions.say(text.trim())).then(ok => ok && onSent());
  };
  return (
    <form class="cw-write" onSubmit={submitting(send)}>
      <textarea
        class="cw-input"
        rows={2}
        value={text}
        aria-label={t('Your message')}
        placeholder={t('Ask, or say what to change. Enter sends, Shift+Enter adds a line.')}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && text.trim()) {
            event.preventDefault();
            send();
          }
        }}
        ref={field}
      />
      {Mentions && allows?.('mentions') !== false && (
        <Mentions {...actions.reach} field={field} text={text} />
      )}
      <Button look="primary" busy={sending.busy} disabled={!text.trim()} onClick={send}>
        {t('Send')}
      </Button>
      <Failure error={sending.error} />
    </form>
  );
}
