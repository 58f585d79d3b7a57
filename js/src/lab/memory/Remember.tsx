import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Card } from '../../shared/Card';
import type { Channel } from '../../shared/channel';
import { executionOf, isFinal, presentJob, type RunState } from '../../shared/run/state';
import { t } from '../../shared/translate';
import type { MemoryProposal } from '../../shared/types';
import { Proposal } from './Proposal';

export interface RememberProps {
  channel: Channel;
  state: RunState;
}

/**
 * Below a run that has just ended well: what there is to remember of it. Of older runs the panel
 * tells; a notebook full of cards must not ask about each.
 */
export function Remember({ channel, state }: RememberProps): VNode | null {
  const job = executionOf(state) ?? presentJob(state);
  const [proposal, setProposal] = useState<MemoryProposal | null>(null);
  const [kept, setKept] = useState(false);
  const seenRunning = useRef<string | null>(null);
  const id = job?.id ?? null;
  const isOver = job !== null && isFinal(job.status);
  useEffect(() => {
    if (!isOver) {
      seenRunning.current = id;
      setProposal(null);
      setKept(false);
    } else if (id !== null && seenRunning.current === id && job?.status === 'completed') {
      // Nice to have: the panel offers it too.
      channel.request<{ proposal: MemoryProposal | null }>('GET', `jobs/${id}/memory`).then(
        answer => setProposal(answer.proposal),
        () => undefined
      );
    }
  }, [channel, id, isOver]);
  if (kept) {
    return (
      <p class="cw-line" role="status">
        {t('Remembered. The panel shows all of it, under Memory.')}
      </p>
    );
  }
  return (
    proposal && (
      <Card
        edge="ask"
        label={t('Remember this?')}
        header={<span class="cw-pill cw-colour-ask">{t('Remember this?')}</span>}
        aside={<span class="cw-dim">.cowork/memory.md</span>}
      >
        <p class="cw-text">{t('For the next run in this workspace. Nothing is kept unasked.')}</p>
        <Proposal
          channel={channel}
          proposal={proposal}
          onDecided={isKept => {
            setProposal(null);
            setKept(isKept);
          }}
        />
      </Card>
    )
  );
}
