import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { TextField } from '../ui/TextField';
import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { CoworkError } from '../channel/channel';
import { Note } from '../ui/Note';
import type { Plan, Role } from '../types';
import { useRun } from '../run/context';
import { t } from '../text/translate';
import { addStep, moveStep, removeStep } from './editing';
import { EditorRow } from './EditorRow';

interface PlanEditorProps {
  plan: Plan;
  revision: number;
  onDone: () => void;
}

/** Nothing is stored before Save, which is checked against the revision that was edited. */
export function PlanEditor({ plan, revision, onDone }: PlanEditorProps): VNode {
  const { actions } = useRun();
  const [draft, setDraft] = useState(plan);
  const [overtaken, setOvertaken] = useState<number | null>(null);
  const [announcement, setAnnouncement] = useState('');
  const [roles, setRoles] = useState<readonly Role[]>([]);
  // If this fails, the plan's own roles can still be kept or removed.
  useEffect(() => void actions.stepRoles().then(setRoles, () => undefined), [actions]);
  const saving = useAction();
  const rows = useRef<HTMLOListElement>(null);
  const wanted = useRef<{ at: number; selector: string } | null>({ at: 0, selector: 'textarea' });

  const move = (from: number, to: number): void => {
    const moved = moveStep(draft, from, to);
    if (moved !== draft) {
      setDraft(moved);
      setAnnouncement(t('Step %1 is now number %2.', String(from + 1), String(to + 1)));
      focusRow(to, '.cw-grip');
    }
  };
  const focusRow = (at: number, selector: string): void => {
    wanted.current = { at, selector };
  };
  // The row to focus exists only after rendering.
  useLayoutEffect(() => {
    if (wanted.current !== null) {
      const { at, selector } = wanted.current;
      wanted.current = null;
      rows.current?.children[at]?.querySelector<HTMLElement>(selector)?.focus();
    }
  });
  const save = (against: number): void => {
    void saving.run(async () => {
      try {
        await actions.savePlan(draft, against);
      } catch (error) {
        if (error instanceof CoworkError && error.code === 'stale_revision') {
          setOvertaken((await actions.newestPlan()).revision);
          return;
        }
        throw error;
      }
      onDone();
    });
  };
  const unfinished = draft.steps.some(step => !step.action.trim());

  return (
    <div class="cw-editor">
      <TextField
        label={t('Goal')}
        value={draft.goal}
        onText={text => setDraft({ ...draft, goal: text })}
      />
      <p class="cw-dim">
        {t('Drag a step by its handle, or focus the handle and press Alt with an arrow key.')}
      </p>
      <ol class="cw-edit-steps" ref={rows}>
        {draft.steps.map((step, at) => (
          <EditorRow
            key={step.id}
            plan={draft}
            at={at}
            roles={roles}
            onChange={setDraft}
            onMove={move}
            onRemove={() => {
              setDraft(removeStep(draft, at));
              setAnnouncement(t('Step %1 is removed.', String(at + 1)));
              focusRow(Math.max(0, at - 1), '.cw-grip');
            }}
          />
        ))}
      </ol>
      <div class="cw-bar">
        <Button
          icon="plus"
          onClick={() => {
            setDraft(addStep(draft));
            focusRow(draft.steps.length, 'textarea');
          }}
        >
          {t('Add a step')}
        </Button>
      </div>
      <div class="cw-sr" role="status">
        {announcement}
      </div>
      {overtaken !== null && (
        <Note>
          {t(
            'The plan changed while you were editing it (it is now at revision %1).',
            String(overtaken)
          )}{' '}
          <Button look="link" onClick={() => save(overtaken)}>
            {t('Overwrite it with mine')}
          </Button>{' '}
          <Button look="link" onClick={onDone}>
            {t('Discard mine and show the new one')}
          </Button>
        </Note>
      )}
      <Failure error={saving.error} />
      <div class="cw-bar">
        <Button
          look="primary"
          busy={saving.busy}
          disabled={unfinished || !draft.goal.trim()}
          onClick={() => save(revision)}
        >
          {t('Save')}
        </Button>
        <Button onClick={onDone}>{t('Cancel')}</Button>
        {unfinished && <span class="cw-dim">{t('Every step needs a description.')}</span>}
      </div>
    </div>
  );
}
