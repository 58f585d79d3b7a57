import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { FileDiffs } from '../ui/Diff';
import { moment } from '../text/format';
import { useHost } from '../card/host';
import { Icon } from '../ui/icons';
import type { Checkpoint, FileDiff, Rollback } from '../types';
import { useRun } from '../run/context';
import { t } from '../text/translate';
import { oneLine } from '../text/visible';
import { Preview } from './Preview';
import { isNothing, RollbackSummary } from './RollbackSummary';

/** Two steps: the preview, then the rollback itself. */
export function RollBack({ onClose }: { onClose: () => void }): VNode {
  const { actions } = useRun();
  const loading = useAction();
  const { run: load } = loading;
  const undoing = useAction();
  const [checkpoints, setCheckpoints] = useState<Checkpoint[] | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [done, setDone] = useState<Rollback | null>(null);
  const [undone, setUndone] = useState(false);
  useEffect(() => {
    void load(async () => {
      const found = await actions.checkpoints();
      setCheckpoints(found);
      setChosen(found[0]?.id ?? null);
    });
  }, [actions, load]);
  const undo = (id: string): void => {
    void undoing.run(async () => {
      setDone(await actions.rollback(id, { dry_run: false }));
      setUndone(!undone);
    });
  };

  if (done) {
    return (
      <Done
        result={done}
        undone={undone}
        busy={undoing.busy}
        error={undoing.error}
        onUndo={undo}
        onClose={onClose}
      />
    );
  }
  return (
    <section class="cw-sub" aria-label={t('Roll back')}>
      {checkpoints === null && loading.busy && (
        <p class="cw-dim">{t('Looking for checkpoints…')}</p>
      )}
      {checkpoints?.length === 0 && (
        <p class="cw-dim">
          {t('There is no checkpoint: nothing changed that could be rolled back.')}
        </p>
      )}
      {checkpoints !== null && checkpoints.length > 0 && (
        <label class="cw-field">
          <span>{t('Back to')}</span>
          <select
            class="cw-input"
            value={chosen ?? ''}
            onChange={event => setChosen(event.currentTarget.value)}
          >
            {checkpoints.map(checkpoint => (
              <option key={checkpoint.id} value={checkpoint.id}>
                {[moment(checkpoint.created_at), oneLine(checkpoint.label, 120)]
                  .filter(Boolean)
                  .join(' · ')}
              </option>
            ))}
          </select>
        </label>
      )}
      <Failure error={loading.error} />
      {chosen === null ? (
        <div class="cw-bar">
          <Button onClick={onClose}>{t('Close')}</Button>
        </div>
      ) : (
        <Preview key={chosen} checkpoint={chosen} onDone={setDone} onClose={onClose} />
      )}
    </section>
  );
}

interface DoneProps {
  result: Rollback;
  /** Whether this undid an earlier rollback. */
  undone: boolean;
  busy: boolean;
  error: unknown;
  onUndo: (id: string) => void;
  onClose: () => void;
}

function Done({ result, undone, busy, error, onUndo, onClose }: DoneProps): VNode {
  const { checkpoint_id: before } = result;
  const { restartAndRunToHere } = useHost();
  const restarting = useAction();
  return (
    <section class="cw-sub" aria-label={t('Roll back')}>
      <p class="cw-result cw-colour-ok" role="status">
        <Icon name="check" />
        <span>{undone ? t('The rollback is undone.') : t('Rolled back.')}</span>
      </p>
      <RollbackSummary result={result} />
      <Failure error={error ?? restarting.error} />
      <div class="cw-bar">
        {restartAndRunToHere && !isNothing(result) && (
          <Button busy={restarting.busy} onClick={() => void restarting.run(restartAndRunToHere)}>
            {t('Restart the kernel and run up to here')}
          </Button>
        )}
        {before && (
          <Button icon="undo" busy={busy} onClick={() => onUndo(before)}>
            {undone ? t('Roll back again') : t('Undo the rollback')}
          </Button>
        )}
        <Button onClick={onClose}>{t('Close')}</Button>
      </div>
    </section>
  );
}

/** Diff against the state before the first step. */
export function Changes({ onClose }: { onClose: () => void }): VNode {
  const { actions } = useRun();
  const loading = useAction();
  const { run: load } = loading;
  const [files, setFiles] = useState<FileDiff[] | null>(null);
  useEffect(() => {
    void load(async () => {
      const [first] = await actions.checkpoints();
      setFiles(first ? await actions.changes(first.id) : []);
    });
  }, [actions, load]);
  return (
    <section class="cw-sub" aria-label={t('Changes')} aria-busy={loading.busy}>
      {files === null && loading.busy && <p class="cw-dim">{t('Comparing…')}</p>}
      {files?.length === 0 && <p class="cw-dim">{t('No file differs from before.')}</p>}
      {files && files.length > 0 && <FileDiffs files={files} />}
      <Failure error={loading.error} />
      <div class="cw-bar">
        <Button onClick={onClose}>{t('Close')}</Button>
      </div>
    </section>
  );
}
