import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { Button } from '../ui/Button';
import { Fold } from '../ui/Fold';
import { Icon } from '../ui/icons';
import { TextField } from '../ui/TextField';
import { roleLook } from '../role/roles';
import type { Plan, PlanStep, Role } from '../types';
import { t } from '../text/translate';
import { oneLine } from '../text/visible';
import { changeStep, assignRole, listOf, toggleDependency, wouldCreateCycle } from './editing';

interface EditorRowProps {
  plan: Plan;
  at: number;
  /** Assignable roles, once loaded. */
  roles: readonly Role[];
  onChange: (plan: Plan) => void;
  onMove: (from: number, to: number) => void;
  onRemove: () => void;
}

const DRAGGED = 'application/x-cowork-step';

/** The action is always editable; tools, files and order are one click away. */
export function EditorRow({ plan, at, roles, onChange, onMove, onRemove }: EditorRowProps): VNode {
  const step = plan.steps[at]!;
  const [isTarget, setIsTarget] = useState(false);
  const number = String(step.step_number);
  const change = (changes: Partial<PlanStep>): void => onChange(changeStep(plan, at, changes));
  return (
    <li
      class={isTarget ? 'cw-edit-step cw-drop' : 'cw-edit-step'}
      onDragOver={event => {
        if (event.dataTransfer?.types.includes(DRAGGED)) {
          event.preventDefault();
          setIsTarget(true);
        }
      }}
      onDragLeave={() => setIsTarget(false)}
      onDrop={event => {
        event.preventDefault();
        event.stopPropagation();
        setIsTarget(false);
        const from = plan.steps.findIndex(({ id }) => id === event.dataTransfer?.getData(DRAGGED));
        if (from >= 0) {
          onMove(from, at);
        }
      }}
    >
      <Handle
        number={number}
        id={step.id}
        at={at}
        count={plan.steps.length}
        onMove={to => onMove(at, to)}
      />
      <div class="cw-edit-fields">
        <textarea
          class="cw-input"
          rows={Math.min(6, Math.max(1, Math.ceil(step.action.length / 80)))}
          value={step.action}
          aria-label={t('Step %1: what to do', number)}
          placeholder={t('What to do')}
          onInput={event => change({ action: event.currentTarget.value })}
        />
        <input
          class="cw-input cw-input-small"
          type="text"
          value={step.reason}
          aria-label={t('Step %1: why', number)}
          placeholder={t('Why')}
          onInput={event => change({ reason: event.currentTarget.value })}
        />
        <RoleField plan={plan} at={at} roles={roles} onChange={onChange} />
        <Fold summary={<span class="cw-dim">{t('Tools, files, order')}</span>}>
          {() => <More plan={plan} at={at} onChange={onChange} />}
        </Fold>
      </div>
      <Button
        icon="cross"
        look="link"
        label={t('Remove step %1', number)}
        title={t('Remove')}
        disabled={plan.steps.length === 1}
        onClick={onRemove}
      />
    </li>
  );
}

/** Drag with the mouse, or focus and press Alt with an arrow key. */
function Handle({
  number,
  id,
  at,
  count,
  onMove
}: {
  number: string;
  id: string;
  at: number;
  count: number;
  onMove: (to: number) => void;
}): VNode {
  return (
    <button
      type="button"
      class="cw-grip"
      draggable
      aria-label={t('Step %1 of %2. Alt and arrow keys move it', number, String(count))}
      title={t('Drag to move; or Alt+↑, Alt+↓')}
      onDragStart={event => {
        event.dataTransfer?.setData(DRAGGED, id);
        event.stopPropagation();
      }}
      onKeyDown={event => {
        const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
        if (by !== 0 && event.altKey) {
          event.preventDefault();
          event.stopPropagation();
          onMove(at + by);
        }
      }}
    >
      <Icon name="grip" />
      {number}
    </button>
  );
}

function RoleField({
  plan,
  at,
  roles,
  onChange
}: Pick<EditorRowProps, 'plan' | 'at' | 'roles' | 'onChange'>): VNode {
  const step = plan.steps[at]!;
  const number = String(step.step_number);
  const names = new Set([
    ...roles.map(({ name }) => name as string),
    ...(step.role ? [step.role] : [])
  ]);
  return (
    <select
      class="cw-input cw-input-small"
      aria-label={t('Step %1: who does it', number)}
      value={step.role ?? ''}
      onChange={event =>
        onChange(assignRole(plan, at, (event.currentTarget.value || null) as PlanStep['role']))
      }
    >
      <option value="">{t('Default role: Actor')}</option>
      {[...names].map(name => (
        <option key={name} value={name}>
          {roleLook(name, roles).label}
        </option>
      ))}
    </select>
  );
}

function More({
  plan,
  at,
  onChange
}: {
  plan: Plan;
  at: number;
  onChange: (plan: Plan) => void;
}): VNode {
  const step = plan.steps[at]!;
  const others = plan.steps.filter(({ id }) => id !== step.id);
  return (
    <>
      <ListField
        label={t('Tools')}
        items={step.tools_needed}
        onChange={tools_needed => onChange(changeStep(plan, at, { tools_needed }))}
      />
      <ListField
        label={t('Files')}
        items={step.files}
        onChange={files => onChange(changeStep(plan, at, { files }))}
      />
      {others.length > 0 && (
        <fieldset class="cw-after">
          <legend>{t('After')}</legend>
          {others.map(other => (
            <label key={other.id} class="cw-check" title={oneLine(other.action)}>
              <input
                type="checkbox"
                checked={step.depends_on.includes(other.id)}
                disabled={
                  !step.depends_on.includes(other.id) && wouldCreateCycle(plan, step.id, other.id)
                }
                onChange={() => onChange(toggleDependency(plan, at, other.id))}
              />
              <span>{other.step_number}</span>
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
}

/**
 * A comma-separated list. The field keeps its own text, so that typing a comma is not undone by the
 * parsed value.
 */
function ListField({
  label,
  items,
  onChange
}: {
  label: string;
  items: readonly string[];
  onChange: (items: string[]) => void;
}): VNode {
  const [text, setText] = useState(items.join(', '));
  return (
    <TextField
      label={label}
      isSmall
      value={text}
      onText={typed => {
        setText(typed);
        onChange(listOf(typed));
      }}
    />
  );
}
