import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { TextField } from '../../../shared/ui/TextField';
import { sendOnEnter, submitting } from '../../../shared/ui/forms';
import { useAction } from '../../../shared/ui/useAction';
import { Button, Failure } from '../../../shared/ui/Button';
import { useHost } from '../../../shared/card/host';
import type { OfferedParameter, Page, Workflow } from '../../../shared/types';
import { t } from '../../../shared/text/translate';
import { oneLine } from '../../../shared/text/visible';
import { planUrl, type PlanRef } from '../../../shared/plan/planRef';

/** A value of the plan, and its parameter name if it varies. */
interface Varying extends OfferedParameter {
  isChosen: boolean;
  called: string;
}

/** Saves a plan as a workflow, then offers to try it with other values. */
export function SaveWorkflow(place: PlanRef): VNode {
  const [saved, setSaved] = useState<Workflow | null>(null);
  return (
    <section class="cw-sub" aria-label={t('Save as workflow')}>
      {saved === null ? (
        <SaveForm place={place} onSaved={setSaved} />
      ) : (
        <TryWorkflow place={place} workflow={saved} />
      )}
    </section>
  );
}

/** Normalises input to a name that the server accepts. */
function nameOf(typed: string): string {
  return typed
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, 50);
}

function SaveForm({
  place,
  onSaved
}: {
  place: PlanRef;
  onSaved: (saved: Workflow) => void;
}): VNode {
  const { channel, context, planId, revision } = place;
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const [varying, setVarying] = useState<Varying[]>([]);
  const loading = useAction();
  const { run: load } = loading;
  const saving = useAction();
  const field = useRef<HTMLInputElement>(null);
  const address = planUrl(place, 'parameters', { revision });
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    void load(async () => {
      const { items } = await channel.request<Page<OfferedParameter>>('GET', address);
      setVarying(items.map(one => ({ ...one, called: one.name, isChosen: one.nature === 'file' })));
    });
  }, [load, channel, address]);
  const change = (value: string, to: Partial<Varying>): void =>
    setVarying(before => before.map(one => (one.value === value ? { ...one, ...to } : one)));
  const name = nameOf(title);
  const save = (): void => {
    if (!name) {
      return;
    }
    const chosen = varying.filter(one => one.isChosen);
    const body = {
      name,
      title: title.trim(),
      description: description.trim(),
      parameters: chosen.map(({ called, value }) => ({
        name: nameOf(called),
        value,
        title: called
      })),
      context_id: context,
      plan_id: planId,
      revision
    };
    void saving.run(async () =>
      onSaved(await channel.request<Workflow>('POST', 'workflows', body))
    );
  };
  return (
    <form class="cw-form" onSubmit={submitting(save)}>
      <TextField
        label={t('Name')}
        field={field}
        onKeyDown={sendOnEnter}
        value={title}
        maxLength={200}
        onText={setTitle}
      />
      <TextField
        label={t('What you get from it')}
        onKeyDown={sendOnEnter}
        value={description}
        maxLength={500}
        onText={setDescription}
      />
      {varying.length > 0 && (
        <fieldset class="cw-varying">
          <legend>{t('What varies each time')}</legend>
          {varying.map(one => (
            <Choice key={one.value} one={one} onChange={to => change(one.value, to)} />
          ))}
        </fieldset>
      )}
      <Failure error={saving.error ?? loading.error} />
      <div class="cw-bar">
        <Button look="primary" busy={saving.busy} disabled={!name} onClick={save}>
          {t('Save workflow')}
        </Button>
        {name && <span class="cw-dim">{`%cowork run ${name}`}</span>}
      </div>
    </form>
  );
}

function Choice({
  one,
  onChange
}: {
  one: Varying;
  onChange: (to: Partial<Varying>) => void;
}): VNode {
  const value = oneLine(one.value, 80);
  return (
    <div class="cw-varying-row">
      <label class="cw-check">
        <input
          type="checkbox"
          checked={one.isChosen}
          onChange={event => onChange({ isChosen: event.currentTarget.checked })}
        />
        <code>{value}</code>
      </label>
      {one.isChosen && (
        <input
          type="text"
          onKeyDown={sendOnEnter}
          class="cw-input"
          aria-label={t('Parameter name: %1', value)}
          value={one.called}
          maxLength={50}
          onInput={event => onChange({ called: event.currentTarget.value })}
        />
      )}
    </div>
  );
}

/** Running it creates a plan with these values, which needs approval like any other. */
function TryWorkflow({ place, workflow }: { place: PlanRef; workflow: Workflow }): VNode {
  const { openConversation } = useHost();
  const parameters = workflow.template?.parameters ?? [];
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(parameters.map(one => [one.name, one.example ?? '']))
  );
  const [isDone, setDone] = useState(false);
  const running = useAction();
  const run = (): void => {
    void running.run(async () => {
      const started = await place.channel.request<{ context_id: string }>(
        'POST',
        `workflows/${workflow.name}/run`,
        { parameters: values }
      );
      setDone(true);
      openConversation?.(started.context_id);
    });
  };
  return (
    <form class="cw-form" aria-label={t('Try it')} onSubmit={submitting(run)}>
      <p role="status">
        {isDone
          ? t('Its plan is waiting for you in the Cowork panel.')
          : t('Saved as %1. Try it with other values:', workflow.name)}
      </p>
      {parameters.map(({ name, title }) => (
        <TextField
          key={name}
          label={oneLine(title || name, 80)}
          onKeyDown={sendOnEnter}
          value={values[name] ?? ''}
          onText={value => setValues(before => ({ ...before, [name]: value }))}
        />
      ))}
      <Failure error={running.error} />
      <div class="cw-bar">
        <Button look="primary" busy={running.busy} onClick={run}>
          {t('Try it')}
        </Button>
      </div>
    </form>
  );
}
