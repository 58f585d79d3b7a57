import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useAction } from '../action';
import { Button, Failure } from '../Button';
import { FileDiffs } from '../Diff';
import { counted, moment } from '../figures';
import { useHost } from '../host';
import { Icon } from '../icons';
import type { Checkpoint, FileDiff, Rollback } from '../protocol';
import { useRun } from '../run/context';
import { t } from '../translate';
import { bounded, oneLine, visible } from '../visible';

const MOST_PATHS = 30;

/** Takes back what was done: first it shows what would happen, and only a second click does it. */
export function RollBack({ onClose }: { onClose: () => void }): VNode {
  const { actions } = useRun();
  const loading = useAction();
  const working = useAction();
  const [checkpoints, setCheckpoints] = useState<Checkpoint[] | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [preview, setPreview] = useState<Rollback | null>(null);
  const [done, setDone] = useState<Rollback | null>(null);

  const look = (id: string): void => {
    setChosen(id);
    setPreview(null);
    void working.run(async () => setPreview(await actions.rollback(id, true)));
  };
  useEffect(() => {
    void loading.run(async () => {
      const found = await actions.checkpoints();
      setCheckpoints(found);
      if (found[0]) {
        look(found[0].id);
      }
    });
  }, []);
  const rollBack = (id: string): void => {
    void working.run(async () => {
      setDone(await actions.rollback(id, false));
      setPreview(null);
    });
  };

  if (done) {
    return <Done result={done} busy={working.busy} error={working.error} onUndo={rollBack} onClose={onClose} />;
  }
  return (
    <section class="cw-sub" aria-label={t('Roll back')}>
      {checkpoints === null && loading.busy && <p class="cw-dim">{t('Looking for checkpoints…')}</p>}
      {checkpoints?.length === 0 && <p class="cw-dim">{t('There is no checkpoint: nothing was changed that could be taken back.')}</p>}
      {checkpoints !== null && checkpoints.length > 0 && (
        <label class="cw-field">
          <span>{t('Back to')}</span>
          <select class="cw-input" value={chosen ?? ''} onChange={event => look(event.currentTarget.value)}>
            {checkpoints.map(checkpoint => (
              <option key={checkpoint.id} value={checkpoint.id}>
                {[moment(checkpoint.created_at), oneLine(checkpoint.label, 120)].filter(Boolean).join(' · ')}
              </option>
            ))}
          </select>
        </label>
      )}
      <div aria-live="polite">
        {working.busy && <p class="cw-dim">{t('Looking what would change…')}</p>}
        {preview && <WhatHappens result={preview} isPreview />}
      </div>
      <Failure error={loading.error ?? working.error} />
      <div class="cw-bar">
        {preview && chosen && (
          <Button look="danger" icon="undo" busy={working.busy} disabled={nothing(preview)} onClick={() => rollBack(chosen)}>
            {t('Roll back now')}
          </Button>
        )}
        <Button onClick={onClose}>{t('Close')}</Button>
      </div>
    </section>
  );
}

function nothing({ restored, removed }: Rollback): boolean {
  return restored.length + removed.length === 0;
}

function WhatHappens({ result, isPreview }: { result: Rollback; isPreview: boolean }): VNode {
  if (nothing(result) && result.skipped.length === 0) {
    return <p class="cw-dim">{t('Nothing differs from that time.')}</p>;
  }
  return (
    <div class="cw-rollback">
      <Paths title={isPreview ? t('Would be brought back') : t('Brought back')} colour="ok" paths={result.restored} />
      <Paths title={isPreview ? t('Would be removed') : t('Removed')} colour="error" paths={result.removed} />
      <Paths
        title={isPreview ? t('Would stay as it is') : t('Left as it is')}
        colour="ask"
        paths={result.skipped.map(({ path, why }) => `${path}: ${why}`)}
      />
      {result.notes?.map(note => (
        <p key={note} class="cw-dim">
          {visible(bounded(note, 1000))}
        </p>
      ))}
    </div>
  );
}

function Paths({ title, colour, paths }: { title: string; colour: string; paths: readonly string[] }): VNode | null {
  if (paths.length === 0) {
    return null;
  }
  return (
    <div>
      <p class={`cw-ink cw-title cw-colour-${colour}`}>{`${title} · ${counted(paths.length, '%1 file', '%1 files')}`}</p>
      <ul class="cw-paths">
        {paths.slice(0, MOST_PATHS).map(path => (
          <li key={path}>{oneLine(path, 300)}</li>
        ))}
        {paths.length > MOST_PATHS && <li>{t('… and %1 more', String(paths.length - MOST_PATHS))}</li>}
      </ul>
    </div>
  );
}

interface DoneProps {
  result: Rollback;
  busy: boolean;
  error: unknown;
  onUndo: (id: string) => void;
  onClose: () => void;
}

function Done({ result, busy, error, onUndo, onClose }: DoneProps): VNode {
  const { checkpoint_id: before } = result;
  const { restartAndRunToHere } = useHost();
  const restarting = useAction();
  return (
    <section class="cw-sub" aria-label={t('Roll back')}>
      <p class="cw-result cw-colour-ok" role="status">
        <Icon name="check" />
        <span>{t('Rolled back.')}</span>
      </p>
      <WhatHappens result={result} isPreview={false} />
      <Failure error={error ?? restarting.error} />
      <div class="cw-bar">
        {restartAndRunToHere && !nothing(result) && (
          <Button busy={restarting.busy} onClick={() => void restarting.run(restartAndRunToHere)}>
            {t('Restart the kernel and run up to here')}
          </Button>
        )}
        {before && (
          <Button icon="undo" busy={busy} onClick={() => onUndo(before)}>
            {t('Undo the rollback')}
          </Button>
        )}
        <Button onClick={onClose}>{t('Close')}</Button>
      </div>
    </section>
  );
}

/** Everything that differs from before the first step. */
export function Changes({ onClose }: { onClose: () => void }): VNode {
  const { actions } = useRun();
  const loading = useAction();
  const [files, setFiles] = useState<FileDiff[] | null>(null);
  useEffect(() => {
    void loading.run(async () => {
      const [first] = await actions.checkpoints();
      setFiles(first ? await actions.changes(first.id) : []);
    });
  }, []);
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

