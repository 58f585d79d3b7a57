import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { hasCode } from '../channel/channel';
import { useRoles } from '../role/roles';
import { t } from '../text/translate';
import { Button, Failure } from '../ui/Button';
import { useAction } from '../ui/useAction';

type Resume = (role?: string) => Promise<void>;

export interface Resuming {
  busy: boolean;
  start: (resume: Resume) => void;
  /** Asks in which role to go on, or says what went wrong. */
  outcome: VNode;
}

/** Resumes a job. If the role was switched since, the user says which one goes on. */
export function useResume(): Resuming {
  const { busy, error, run, forget } = useAction();
  const [resume, setResume] = useState<Resume | null>(null);
  const lookOf = useRoles();
  const start = (work: Resume, role?: string): void => {
    setResume(() => work);
    void run(() => work(role));
  };
  const isAsking = resume && hasCode(error, 'role_changed');
  const outcome = isAsking ? (
    <span class="cw-confirm" role="alertdialog" aria-label={error.message}>
      <span>{error.message}</span>
      {['current_role', 'job_role']
        .map(which => (error.details as Record<string, string>)[which])
        .map(role => (
          <Button key={role} onClick={() => start(resume, role)}>
            {t('Continue as %1', lookOf(role ?? '').label)}
          </Button>
        ))}
      <Button onClick={forget}>{t('Cancel')}</Button>
    </span>
  ) : (
    <Failure error={error} />
  );
  return { busy, start, outcome };
}
