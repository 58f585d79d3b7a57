import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { TextField } from '../../../shared/ui/TextField';
import { submitting } from '../../../shared/ui/forms';
import { useAction } from '../../../shared/ui/useAction';
import { Button, Failure } from '../../../shared/ui/Button';
import type { TemplateParameter, Workflow } from '../../../shared/types';
import { t } from '../../../shared/text/translate';
import { oneLine } from '../../../shared/text/visible';
import { usePanel } from '../../panel/context';

interface WorkflowToolsProps {
  workflow: Pick<Workflow, 'name' | 'title' | 'description'>;
  parameters: readonly TemplateParameter[];
  onChanged: () => void;
}

/** Actions on the user's own workflow. */
export function WorkflowTools({ workflow, parameters, onChanged }: WorkflowToolsProps): VNode {
  const { channel, download } = usePanel();
  const [isEdited, setEdited] = useState(false);
  const [isSure, setSure] = useState(false);
  const [shared, setShared] = useState('');
  const working = useAction();
  const address = `workflows/${encodeURIComponent(workflow.name)}`;
  const share = (): void => {
    void working.run(async () => {
      const body = { replace: true };
      setShared((await channel.request<{ path: string }>('POST', `${address}/share`, body)).path);
    });
  };
  const remove = (): void => {
    void working.run(() => channel.request('DELETE', address)).then(ok => ok && onChanged());
  };
  return (
    <div class="cw-tools">
      <div class="cw-bar">
        <Button expanded={isEdited} onClick={() => setEdited(!isEdited)}>
          {t('Edit')}
        </Button>
        <Button
          busy={working.busy}
          title={t('Copies it to .cowork/workflows in this folder')}
          onClick={share}
        >
          {t('Share in this folder')}
        </Button>
        <Button
          busy={working.busy}
          onClick={() =>
            void working.run(() => download(`${address}/file`, `${workflow.name}.json`))
          }
        >
          {t('Download')}
        </Button>
        <Button
          look="danger"
          busy={working.busy}
          onClick={() => (isSure ? remove() : setSure(true))}
        >
          {isSure ? t('Delete for good') : t('Delete')}
        </Button>
      </div>
      <Failure error={working.error} />
      <p role="status" class="cw-dim">
        {shared && t('Shared as %1. Others can use it once they have trusted it.', shared)}
      </p>
      {isEdited && (
        <EditForm
          workflow={workflow}
          parameters={parameters}
          onSaved={() => {
            setEdited(false);
            onChanged();
          }}
        />
      )}
    </div>
  );
}

interface EditFormProps {
  workflow: WorkflowToolsProps['workflow'];
  parameters: readonly TemplateParameter[];
  onSaved: () => void;
}

/** Edits title, description, and the parameters' labels and defaults. */
function EditForm({ workflow, parameters, onSaved }: EditFormProps): VNode {
  const { channel } = usePanel();
  const [title, setTitle] = useState(workflow.title);
  const [description, setDescription] = useState(workflow.description);
  const [kept, setKept] = useState(parameters);
  const saving = useAction();
  const change = (name: string, to: Partial<TemplateParameter>): void =>
    setKept(before => before.map(one => (one.name === name ? { ...one, ...to } : one)));
  const save = (): void => {
    const body = { title, description, parameters: kept };
    void saving
      .run(() => channel.request('PUT', `workflows/${encodeURIComponent(workflow.name)}`, body))
      .then(ok => ok && onSaved());
  };
  return (
    <form class="cw-form" aria-label={t('Edit workflow')} onSubmit={submitting(save)}>
      <Line label={t('Title')} value={title} onChange={setTitle} />
      <Line label={t('Description')} value={description} onChange={setDescription} />
      {kept.map(one => (
        <fieldset key={one.name} class="cw-varying">
          <legend>{oneLine(one.name, 60)}</legend>
          <Line
            label={t('Label')}
            value={one.title}
            onChange={value => change(one.name, { title: value })}
          />
          <Line
            label={t('Default')}
            value={one.default ?? ''}
            onChange={value => change(one.name, { default: value || null })}
          />
          <Button
            look="link"
            title={t('Always %1', oneLine(one.default ?? one.example ?? '', 60))}
            onClick={() => setKept(before => before.filter(({ name }) => name !== one.name))}
          >
            {t('Make it fixed')}
          </Button>
        </fieldset>
      ))}
      <Failure error={saving.error} />
      <div class="cw-bar">
        <button type="submit" hidden />
        <Button look="primary" busy={saving.busy} disabled={!title.trim()} onClick={save}>
          {t('Save changes')}
        </Button>
      </div>
    </form>
  );
}

interface LineProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

function Line({ label, value, onChange }: LineProps): VNode {
  return <TextField label={label} value={value} maxLength={500} onText={onChange} />;
}
