import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { Button, Failure } from '../../shared/ui/Button';
import { moment, size } from '../../shared/text/format';
import { Changes, RollBack } from '../../shared/plan/RollBack';
import type { Checkpoint, Checkpoints } from '../../shared/types';
import { RunProvider } from '../../shared/run/context';
import { counted, t } from '../../shared/text/translate';
import { oneLine } from '../../shared/text/visible';
import { useFollowed, usePanel } from './context';
import { CheckpointActions } from './standaloneActions';
import { Section } from './Section';

const RELOAD_EVENTS = ['checkpoint-created', 'job-completed'];

/** Timeline of checkpoints, newest first. */
export function CheckpointsSection({
  context,
  open = true
}: {
  context: string;
  open?: boolean;
}): VNode | null {
  const { value, error } = useFollowed<Checkpoints>(
    `context/${context}/checkpoints`,
    RELOAD_EVENTS,
    context
  );
  const newest = [...(value?.items ?? [])].sort((one, other) =>
    other.created_at.localeCompare(one.created_at)
  );
  if (newest.length === 0) {
    return error === null ? null : <Failure error={error} />;
  }
  return (
    <Section title={t('Checkpoints')} part="checkpoints" count={String(newest.length)} open={open}>
      {() => (
        <>
          <ol class="cw-list cw-timeline">
            {newest.map(one => (
              <Point key={one.id} checkpoint={one} context={context} />
            ))}
          </ol>
          {value?.store && <StorageUsage {...value.store} />}
        </>
      )}
    </Section>
  );
}

function Point({ checkpoint, context }: { checkpoint: Checkpoint; context: string }): VNode {
  const { channel } = usePanel();
  const [runContext] = useState(() => ({
    actions: new CheckpointActions(channel, context, checkpoint),
    live: true
  }));
  const [open, setOpen] = useState(false);
  const [shown, setShown] = useState<'none' | 'changes' | 'rollback'>('none');
  const toggle = (what: 'changes' | 'rollback'): void => setShown(shown === what ? 'none' : what);
  const close = (): void => setShown('none');
  return (
    <li class="cw-row">
      <button type="button" class="cw-plain" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span class="cw-dot" aria-hidden="true" />
        <span class="cw-name">
          {moment(checkpoint.created_at)} {oneLine(checkpoint.label, 120)}
        </span>
        <span class="cw-dim cw-when">{oneLine(files(checkpoint), 60)}</span>
      </button>
      {open && (
        <div class="cw-tools">
          <div class="cw-bar">
            <Button expanded={shown === 'changes'} onClick={() => toggle('changes')}>
              {t('What changed since')}
            </Button>
            <Button icon="undo" expanded={shown === 'rollback'} onClick={() => toggle('rollback')}>
              {t('Roll back…')}
            </Button>
          </div>
          <RunProvider value={runContext}>
            {shown === 'changes' && <Changes onClose={close} />}
            {shown === 'rollback' && <RollBack onClose={close} />}
          </RunProvider>
        </div>
      )}
    </li>
  );
}

/** Disk space of all checkpoints, and the age of the oldest. */
function StorageUsage({ bytes, limit, oldest }: NonNullable<Checkpoints['store']>): VNode {
  const used = t('All conversations: %1 of %2', size(bytes), size(limit));
  return <p class="cw-dim cw-row">{oldest ? t('%1, back to %2', used, moment(oldest)) : used}</p>;
}

/** The name of a single file, else the count. */
function files({ files: touched }: Checkpoint): string {
  const names = touched.filter(one => typeof one === 'string');
  return names.length === 1
    ? (names[0] ?? '')
    : names.length > 1
      ? counted(names.length, '%1 file', '%1 files')
      : '';
}
