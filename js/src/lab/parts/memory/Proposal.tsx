import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { useAction } from '../../../shared/ui/useAction';
import { Button, Failure } from '../../../shared/ui/Button';
import type { Channel } from '../../../shared/channel/channel';
import { Diff } from '../../../shared/ui/Diff';
import { t } from '../../../shared/text/translate';
import type { MemoryProposal } from '../../../shared/types';
import { MemoryEditor } from './MemoryEditor';

interface ProposalProps {
  channel: Channel;
  proposal: MemoryProposal;
  onDecided: (kept: boolean) => void;
}

/** What a run would add to the memory: keep, edit or discard. */
export function Proposal({ channel, proposal, onDecided }: ProposalProps): VNode {
  const deciding = useAction();
  const [editing, setEditing] = useState(false);
  const decide = async (decision: 'keep' | 'drop', text?: string): Promise<void> => {
    const address = `jobs/${encodeURIComponent(proposal.job_id)}/memory`;
    const { fingerprint } = proposal;
    await channel.request('POST', address, {
      decision,
      fingerprint,
      ...(text === undefined ? {} : { text })
    });
    onDecided(decision === 'keep');
  };
  if (editing) {
    return (
      <MemoryEditor
        text={proposal.text}
        action={t('Keep')}
        onSave={text => decide('keep', text)}
        onCancel={() => setEditing(false)}
      />
    );
  }
  return (
    <>
      <Diff text={proposal.diff} label={t('What would be remembered')} />
      <Failure error={deciding.error} />
      <div class="cw-bar">
        <Button
          look="primary"
          busy={deciding.busy}
          onClick={() => void deciding.run(() => decide('keep'))}
        >
          {t('Keep')}
        </Button>
        <Button disabled={deciding.busy} onClick={() => setEditing(true)}>
          {t('Edit…')}
        </Button>
        <Button disabled={deciding.busy} onClick={() => void deciding.run(() => decide('drop'))}>
          {t('No')}
        </Button>
      </div>
    </>
  );
}
