import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { CoworkError, isRecord } from '../channel/channel';
import { useRoles } from '../role/roles';
import { t } from '../text/translate';
import { Button, Failure } from '../ui/Button';
import { useAction } from '../ui/useAction';

type Resume = (role?: string) => Promise<void>;

interface Changed {
  resume: Resume;
  before: string;
  now: string;
}

export interface Resuming {
  busy: boolean;
  start: (resume: Resume) => void;
  /** Asks in which role to go on, or says what went wrong. */
  outcome: VNode;
}

/** Resumes a job. If the role was switched since, the user says which one goes on. */
export function useResume(): Resuming {
  const resuming = useAction();
  const [changed, setChanged] = useState<Changed | null>(null);
  const start = (resume: Resume, role?: string): void => {
    void resuming.run(async () => {
      try {
        await resume(role);
        setChanged(null);
      } catch (error) {
        const roles = rolesIn(error);
        if (roles === null) {
          throw error;
        }
        setChanged({ resume, ...roles });
      }
    });
  };
  const outcome = (
    <>
      {changed && (
        <WhichRole
          {...changed}
          busy={resuming.busy}
          onChoose={role => start(changed.resume, role)}
          onCancel={() => setChanged(null)}
        />
      )}
      <Failure error={resuming.error} />
    </>
  );
  return { busy: resuming.busy, start, outcome };
}

interface WhichRoleProps extends Omit<Changed, 'resume'> {
  busy: boolean;
  onChoose: (role: string) => void;
  onCancel: () => void;
}

function WhichRole({ before, now, busy, onChoose, onCancel }: WhichRoleProps): VNode {
  const lookOf = useRoles();
  const [was, is] = [lookOf(before).label, lookOf(now).label];
  return (
    <span class="cw-confirm" role="alertdialog" aria-label={t('Continue in which role?')}>
      <span>{t('It ran as %1, and the role is now %2.', was, is)}</span>
      <Button look="primary" busy={busy} onClick={() => onChoose(now)}>
        {t('Continue as %1', is)}
      </Button>
      <Button disabled={busy} onClick={() => onChoose(before)}>
        {t('Continue as %1', was)}
      </Button>
      <Button onClick={onCancel}>{t('Cancel')}</Button>
    </span>
  );
}

function rolesIn(error: unknown): Omit<Changed, 'resume'> | null {
  const details = error instanceof CoworkError && error.code === 'role_changed' && error.details;
  if (!isRecord(details)) {
    return null;
  }
  const { job_role: before, current_role: now } = details;
  return typeof before === 'string' && typeof now === 'string' ? { before, now } : null;
}
