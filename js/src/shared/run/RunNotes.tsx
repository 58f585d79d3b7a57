import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { moment } from '../text/format';
import type { Again, RunCardData } from '../types';
import { counted, t } from '../text/translate';
import { oneLine } from '../text/visible';
import { useRun } from './context';
import { Reason } from '../ui/Note';
import { isFinal, isPlanReady, presentJob, type RunState } from './state';

interface RecordNoteProps {
  card: RunCardData;
  copiedFrom: string | null;
}

/** The run is unknown here, or belongs to another notebook: only the saved card is left. */
export function RecordNote({ card, copiedFrom }: RecordNoteProps): VNode {
  const { asked_by: by, jobs, revision } = card.snapshot;
  const when = card.saved_at ? moment(card.saved_at) : '';
  return (
    <p class="cw-dim cw-record">
      {copiedFrom !== null
        ? t('A record, copied from %1. Run the cell to start over.', oneLine(copiedFrom, 200))
        : when
          ? t('A record from %1; not live here.', when)
          : t('A record; not live here.')}
      {by && ` ${t('Asked by %1.', oneLine(String(by), 80))}`}
      {jobs?.some(({ kind, by = 'person' }) => kind === 'plan' && by === 'person') &&
        ` ${t('Plan, revision %1: approved.', String(revision))}`}
    </p>
  );
}

/** The notebook keeps only the newest messages; the server has all of them. */
export function OmittedMessages({ count }: { count: number }): VNode | null {
  const { actions, live } = useRun();
  const loading = useAction();
  if (count === 0) {
    return null;
  }
  if (!live) {
    return (
      <p class="cw-dim">
        {counted(
          count,
          '%1 older message is not in this record.',
          '%1 older messages are not in this record.'
        )}
      </p>
    );
  }
  return (
    <p>
      <Button
        look="link"
        busy={loading.busy}
        onClick={() => void loading.run(() => actions.wholeRecord())}
      >
        {counted(count, 'Show %1 older message', 'Show %1 older messages')}
      </Button>
      <Failure error={loading.error} />
    </p>
  );
}

interface RunAgainNoteProps {
  again: Again;
  onStartOver: (place: { context_id: string; job_id: string }) => void;
}

/** Running a cell again sends nothing by itself: the user may only have wanted to see the card. */
export function RunAgainNote({ again, onStartOver }: RunAgainNoteProps): VNode | null {
  const { actions } = useRun();
  const starting = useAction();
  const [gone, setGone] = useState(false);
  if (gone) {
    return null;
  }
  return (
    <div class="cw-before">
      <span>{t('This cell has run before.')}</span>
      <Button
        busy={starting.busy}
        onClick={() => void starting.run(() => actions.again(again)).then(setGone)}
      >
        {t('Run again')}
      </Button>
      {again.content !== undefined && (
        <Button
          disabled={starting.busy}
          onClick={() => void starting.run(async () => onStartOver(await actions.startOver(again)))}
        >
          {t('Start over')}
        </Button>
      )}
      <Failure error={starting.error} />
    </div>
  );
}

/** Why the run failed, unless the failed step says so, and what to do next. */
export function RunError({ state }: { state: RunState }): VNode | null {
  const { live } = useRun();
  const job = presentJob(state);
  if (job === null || !isFinal(job.status) || job.status === 'completed') {
    return null;
  }
  const next = live ? nextSentence(state) : '';
  const isSaid = Object.values(state.tasks).some(
    task => task.status === 'failed' && task.error && job.error?.includes(task.error)
  );
  return (
    <div class="cw-error">
      {job.error && !isSaid && (
        <Reason text={job.error} colour={job.status === 'failed' ? 'error' : 'ask'} />
      )}
      {next && <p class="cw-dim">{next}</p>}
    </div>
  );
}

function nextSentence(state: RunState): string {
  if (state.busy !== null) {
    return '';
  }
  const isExecution = presentJob(state)?.kind === 'plan';
  if (isPlanReady(state) && isExecution) {
    return t('“Execute plan” continues with the new plan; finished steps are not repeated.');
  }
  return isExecution
    ? t(
        '“Continue” resumes where it stopped; finished steps are not repeated. Or edit the ' +
          'plan, discuss it, or roll back.'
      )
    : t('“Continue” resumes where it stopped. Or discuss it: say what to do differently.');
}
