import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { useAction } from '../../../shared/ui/useAction';
import { Button, Failure } from '../../../shared/ui/Button';
import { Note } from '../../../shared/ui/Note';
import { t } from '../../../shared/text/translate';
import type { MemoryView } from '../../../shared/types';
import { oneLine, visible } from '../../../shared/text/visible';
import { useFollowed, usePanel } from '../../panel/context';
import { MemoryEditor } from './MemoryEditor';
import { Proposal } from './Proposal';

const RELOAD_EVENTS = ['job-completed', 'memory-decision'];

/** The workspace's memory, and proposals to add to it. */
export function Memory(): VNode {
  const { channel } = usePanel();
  const { value, error, reload } = useFollowed<MemoryView>('memory', RELOAD_EVENTS);
  return (
    <div class="cw-section">
      <Failure error={error} />
      {value && <Known key={value.fingerprint} memory={value} onChanged={reload} />}
      {value?.proposals.map(proposal => (
        <section key={`${proposal.job_id} ${proposal.fingerprint}`} class="cw-memory-offer">
          <p class="cw-title">{t('Remember this?')}</p>
          <p class="cw-dim">{t('From: %1', oneLine(proposal.request, 200))}</p>
          <Proposal channel={channel} proposal={proposal} onDecided={reload} />
        </section>
      ))}
    </div>
  );
}

function Known({ memory, onChanged }: { memory: MemoryView; onChanged: () => void }): VNode {
  const { channel } = usePanel();
  const changing = useAction();
  const [open, setOpen] = useState<'nothing' | 'editor' | 'forgetting'>('nothing');
  const { text, trusted, enabled, fingerprint } = memory;
  const save = async (edited: string): Promise<void> => {
    await channel.request('PUT', 'memory', { text: edited, fingerprint });
    onChanged();
  };
  const forget = async (): Promise<void> => {
    await channel.request('DELETE', 'memory');
    onChanged();
  };
  if (open === 'editor') {
    return (
      <MemoryEditor
        text={text}
        action={t('Save')}
        onSave={save}
        onCancel={() => setOpen('nothing')}
      />
    );
  }
  return (
    <>
      {!enabled && <Note>{t('Memory is off in the settings (Cowork.memory).')}</Note>}
      {enabled && !trusted && (
        <Note>
          {t('Someone else wrote or changed this. No agent follows it until you trust it.')}
        </Note>
      )}
      {text ? (
        <pre
          class="cw-code cw-memory-text"
          tabIndex={0}
          role="group"
          aria-label={t('What is remembered, as Markdown')}
        >
          {visible(text)}
        </pre>
      ) : (
        <p class="cw-dim">
          {t(
            'Nothing yet. After a run that you keep, Cowork suggests what to remember: ' +
              'files, keys, formats, and what you said.'
          )}
        </p>
      )}
      <Failure error={changing.error} />
      <div class="cw-bar">
        {text && !trusted && (
          <Button
            look="primary"
            busy={changing.busy}
            onClick={() => void changing.run(() => save(text))}
          >
            {t('Trust it')}
          </Button>
        )}
        <Button onClick={() => setOpen('editor')}>{text ? t('Edit…') : t('Write…')}</Button>
        {text && open === 'nothing' && (
          <Button onClick={() => setOpen('forgetting')}>{t('Forget…')}</Button>
        )}
        {open === 'forgetting' && (
          <Button look="danger" busy={changing.busy} onClick={() => void changing.run(forget)}>
            {t('Forget all of it')}
          </Button>
        )}
      </div>
    </>
  );
}
