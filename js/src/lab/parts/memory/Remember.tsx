import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { CardLine } from '../../../shared/card/host';
import { executionOf, isFinal, presentJob } from '../../../shared/run/state';
import { t } from '../../../shared/text/translate';
import type { MemoryProposal } from '../../../shared/types';
import { Proposal } from './Proposal';

/**
 * Proposal below a run that has just succeeded. Older runs are offered in the panel only: a
 * notebook full of cards must not ask about each.
 */
export function Remember({ channel, state }: CardLine): VNode | null {
  const job = executionOf(state) ?? presentJob(state);
  const [proposal, setProposal] = useState<MemoryProposal | null>(null);
  const [decided, setDecided] = useState<'kept' | 'dropped' | null>(null);
  const seenRunning = useRef<string | null>(null);
  const id = job?.id ?? null;
  const isOver = job !== null && isFinal(job.status);
  const isDone = job?.status === 'completed' && state.busy === null;
  const entryCount = state.entries.length; // a rollback, for one, which takes the offer back
  useEffect(() => {
    if (!isOver) {
      seenRunning.current = id;
      setDecided(null);
    }
    if (!isDone || seenRunning.current !== id || decided !== null) {
      setProposal(null);
      return;
    }
    // Optional: the panel offers it too.
    channel.request<{ proposal: MemoryProposal | null }>('GET', `jobs/${id}/memory`).then(
      answer => setProposal(answer.proposal),
      () => undefined
    );
  }, [channel, id, isOver, isDone, entryCount, decided]);
  if (decided === 'kept') {
    return (
      <p class="cw-line" role="status">
        {t('Remembered. The panel shows all of it, under Memory.')}
      </p>
    );
  }
  return (
    proposal && (
      <div
        class="cw-remember"
        role="group"
        aria-label={t('Remember this?')}
        data-lm-suppress-shortcuts="true"
      >
        <p class="cw-title">{t('Remember this?')}</p>
        <p class="cw-dim">
          {t('For the next run in this workspace. Nothing is kept without asking you.')}
        </p>
        <Proposal
          channel={channel}
          proposal={proposal}
          onDecided={isKept => setDecided(isKept ? 'kept' : 'dropped')}
        />
      </div>
    )
  );
}
