import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { Failure } from '../../../shared/ui/Button';
import { Icon } from '../../../shared/ui/icons';
import { Note } from '../../../shared/ui/Note';
import type { Page, Problem } from '../../../shared/types';
import { useRoles } from '../../../shared/role/roles';
import { translateKnown, t } from '../../../shared/text/translate';
import { oneLine, visible } from '../../../shared/text/visible';
import { useLoaded, useActivity, usePanel } from '../../panel/context';
import { WorkflowForm, type Workflow } from './WorkflowForm';
import { WorkflowTools } from './WorkflowTools';

/** Plans can be saved as workflows once executed, so reload after runs. */
const RELOAD_EVENTS = ['job-started', 'job-completed'];

interface Category {
  name: string;
  label: string;
  workflows: { name: string }[];
}

/** Workflows by category; each opens its form in place. */
export function Workflows(): VNode {
  const { channel } = usePanel();
  const worked = useActivity(RELOAD_EVENTS);
  const { value, error, reload } = useLoaded(
    () =>
      Promise.all([
        channel.request<Page<Workflow> & { problems?: Problem[] }>('GET', 'workflows'),
        channel.request<Page<Category>>('GET', 'workflows/categories')
      ]),
    [worked]
  );
  if (value === null) {
    return error === null ? (
      <p class="cw-row cw-dim">{t('Looking…')}</p>
    ) : (
      <Failure error={error} />
    );
  }
  const [{ items, problems = [] }, categories] = value;
  return (
    <>
      {categories.items.map(category => (
        <div key={category.name}>
          <h3 class="cw-subheading">{oneLine(translateKnown(category.label), 80)}</h3>
          <ul class="cw-list">
            {category.workflows.map(({ name }) => {
              const workflow = items.find(one => one.name === name);
              return workflow && <Row key={name} workflow={workflow} onChanged={reload} />;
            })}
          </ul>
        </div>
      ))}
      {problems.map(problem => (
        <Note key={problem.message}>{visible(problem.message)}</Note>
      ))}
    </>
  );
}

function Row({ workflow, onChanged }: { workflow: Workflow; onChanged: () => void }): VNode {
  const { template } = workflow;
  const [open, setOpen] = useState(false);
  const role = useRoles()(workflow.role);
  return (
    <li class="cw-row">
      <button
        type="button"
        class="cw-plain"
        aria-expanded={open}
        title={oneLine(translateKnown(workflow.description), 300)}
        onClick={() => setOpen(!open)}
      >
        <span class={`cw-ink cw-colour-${role.colour}`} title={role.label}>
          <Icon name={role.icon} />
        </span>
        <span class="cw-name">{oneLine(translateKnown(workflow.title), 120)}</span>
      </button>
      {open && <WorkflowForm workflow={workflow} />}
      {open && template?.source === 'user' && (
        <WorkflowTools
          key={JSON.stringify([workflow.title, workflow.description, template.parameters])}
          workflow={workflow}
          parameters={template.parameters}
          onChanged={onChanged}
        />
      )}
    </li>
  );
}
