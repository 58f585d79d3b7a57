import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { submitting } from '../../../shared/ui/forms';
import { useAction } from '../../../shared/ui/useAction';
import { Button, Failure } from '../../../shared/ui/Button';
import type { TemplateParameter } from '../../../shared/types';
import { translateKnown, t } from '../../../shared/text/translate';
import { oneLine, visible } from '../../../shared/text/visible';
import { usePanel } from '../../panel/context';
import {
  fieldsOf,
  initialValues,
  isComplete,
  parametersOf,
  takesFiles,
  withPicked,
  type Field
} from './schemaForm';

export interface Workflow {
  name: string;
  title: string;
  description: string;
  role: string;
  parameters: Record<string, unknown>;
  /** Set for a saved plan. */
  template?: { source: string; parameters: TemplateParameter[] } | null;
}

/** Form generated from the workflow's schema. Running it opens the conversation. */
export function WorkflowForm({ workflow }: { workflow: Workflow }): VNode {
  const { channel, notebook, open } = usePanel();
  const fields = useMemo(() => fieldsOf(workflow.parameters, notebook), [workflow, notebook]);
  const [typed, setTyped] = useState<Record<string, string | boolean>>({});
  const running = useAction();
  const values = { ...initialValues(fields), ...typed };
  const complete = isComplete(fields, values);
  const run = (): void => {
    if (complete) {
      void running.run(async () => {
        const started = await channel.request<{ context_id: string }>(
          'POST',
          `workflows/${encodeURIComponent(workflow.name)}/run`,
          {
            parameters: parametersOf(fields, values)
          }
        );
        open(started.context_id);
      });
    }
  };
  return (
    <form class="cw-form" aria-label={translateKnown(workflow.title)} onSubmit={submitting(run)}>
      <p class="cw-dim">{visible(translateKnown(workflow.description))}</p>
      {fields.map(field => (
        <FieldView
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          onChange={value => setTyped(before => ({ ...before, [field.name]: value }))}
        />
      ))}
      <Failure error={running.error} />
      <div class="cw-bar">
        <Button look="primary" busy={running.busy} disabled={!complete} onClick={run}>
          {t('Run')}
        </Button>
      </div>
    </form>
  );
}

interface FieldViewProps {
  field: Field;
  value: string | boolean;
  onChange: (value: string | boolean) => void;
}

function FieldView({ field, value, onChange }: FieldViewProps): VNode {
  const title = oneLine(translateKnown(field.title), 80);
  if (field.kind === 'boolean') {
    return (
      <label class="cw-check">
        <input
          type="checkbox"
          checked={value === true}
          onChange={event => onChange(event.currentTarget.checked)}
        />
        <span>{title}</span>
      </label>
    );
  }
  const label = (
    <label class="cw-field">
      <span>
        {title}
        {field.isRequired && <span class="cw-dim"> {t('(required)')}</span>}
      </span>
      <FieldInput field={field} value={String(value)} onChange={onChange} />
      {field.description && (
        <span class="cw-dim">{visible(translateKnown(field.description))}</span>
      )}
    </label>
  );
  return takesFiles(field) ? (
    <div class="cw-file-field">
      {label}
      <Browse field={field} title={title} value={String(value)} onChange={onChange} />
    </div>
  ) : (
    label
  );
}

/** Fills the field from Lab's file dialog. */
function Browse({
  field,
  title,
  value,
  onChange
}: FieldInputProps & { title: string }): VNode | null {
  const { pickFiles } = usePanel();
  const picking = useAction();
  if (pickFiles === undefined) {
    return null;
  }
  const browse = (): void => {
    void picking.run(async () => {
      const picked = await pickFiles(field.format === 'notebook-path' ? 'notebooks' : 'any');
      onChange(withPicked(field, value, picked));
    });
  };
  return (
    <>
      <Button busy={picking.busy} title={t('Browse for %1', title)} onClick={browse}>
        {t('Browse…')}
      </Button>
      <Failure error={picking.error} />
    </>
  );
}

interface FieldInputProps {
  field: Field;
  value: string;
  onChange: (value: string) => void;
}

function FieldInput({ field, value, onChange }: FieldInputProps): VNode {
  const onInput = (event: { currentTarget: { value: string } }): void =>
    onChange(event.currentTarget.value);
  const common = { class: 'cw-input', value, onInput, 'aria-required': field.isRequired };
  switch (field.kind) {
    case 'choice':
      return (
        <select {...common}>
          {!field.choices.includes(value) && <option value="" />}
          {field.choices.map(choice => (
            <option key={choice} value={choice}>
              {oneLine(choice, 80)}
            </option>
          ))}
        </select>
      );
    case 'lines':
    case 'json':
      return (
        <textarea
          {...common}
          rows={2}
          placeholder={field.kind === 'lines' ? t('One per line') : t('JSON')}
        />
      );
    case 'number':
      return <input type="number" step="any" {...common} />;
    default:
      return <input type="text" {...common} />;
  }
}
