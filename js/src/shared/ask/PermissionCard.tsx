import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { sendOnEnter, submitting } from '../ui/forms';
import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { Card } from '../ui/Card';
import { Diff } from '../ui/Diff';
import { Fold } from '../ui/Fold';
import { Note } from '../ui/Note';
import type { PermissionRequest, Scope } from '../types';
import { useRun } from '../run/context';
import { CallFacts } from '../run/ToolCall';
import { counted, t } from '../text/translate';
import { oneLine, visible } from '../text/visible';
import { riskLabel, scopeHelp, scopeLabel, toolLabel } from './labels';

/** A tool call that needs the user's permission: the whole call, its resource and why it asks. */
export function PermissionCard({
  request,
  step
}: {
  request: PermissionRequest;
  step: string | null;
}): VNode {
  const about = [step, riskLabel(request.risk)].filter(Boolean).join(' · ');
  return (
    <Card
      edge="ask"
      label={t('Permission: %1', oneLine(`${toolLabel(request.tool)} ${request.resource}`))}
      header={
        <>
          <span class="cw-pill cw-colour-ask">{t('Permission')}</span>
          <span class="cw-title">{toolLabel(request.tool)}</span>
        </>
      }
      aside={<span class="cw-dim">{about}</span>}
      footer={<DecisionBar requests={[request]} />}
    >
      <What request={request} />
    </Card>
  );
}

/** Several requests at once: each shown in full, one decision for those that are ticked. */
export function PermissionBatch({ requests }: { requests: readonly PermissionRequest[] }): VNode {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const chosen = requests.filter(({ id }) => !left.has(id));
  const toggle = (id: string): void => {
    const next = new Set(left);
    if (!next.delete(id)) {
      next.add(id);
    }
    setLeft(next);
  };
  return (
    <Card
      edge="ask"
      label={counted(requests.length, '%1 permission', '%1 permissions')}
      header={
        <>
          <span class="cw-pill cw-colour-ask">{t('Permissions')}</span>
          <span class="cw-title">
            {counted(requests.length, '%1 item is waiting for you', '%1 items are waiting for you')}
          </span>
        </>
      }
      footer={<DecisionBar requests={chosen} />}
    >
      <ul class="cw-batch">
        {requests.map(request => (
          <li key={request.id}>
            <label class="cw-check">
              <input
                type="checkbox"
                checked={!left.has(request.id)}
                onChange={() => toggle(request.id)}
              />
              <span class="cw-title">{toolLabel(request.tool)}</span>
              <span class="cw-dim">{riskLabel(request.risk)}</span>
            </label>
            <What request={request} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function What({ request }: { request: PermissionRequest }): VNode {
  const { tool, parameters, shown, resource, why, uncovered = [] } = request;
  return (
    <>
      {shown && resource && resource !== tool && shown.text.trim() !== resource.trim() && (
        <p>
          <span class="cw-chip">{oneLine(resource, 300)}</span>
        </p>
      )}
      <Shown request={request} />
      {shown && !shown.complete && (
        <Note>{t('This is only part of it: the rest is too long to show.')}</Note>
      )}
      <ul class="cw-dim cw-reasons">
        {why.map(one => (
          <li key={one}>{visible(one)}</li>
        ))}
      </ul>
      {uncovered.length > 0 && (
        <Note>{t('Rolling back cannot undo: %1', uncovered.map(visible).join('; '))}</Note>
      )}
      <Fold summary={<span class="cw-dim">{t('Details')}</span>}>
        {() => <CallFacts tool={tool} parameters={parameters} />}
      </Fold>
    </>
  );
}

function Shown({
  request: { shown, resource, tool, parameters }
}: {
  request: PermissionRequest;
}): VNode {
  if (shown?.kind === 'diff') {
    return <Diff text={shown.text} label={t('The change')} />;
  }
  // Never truncated: users approve only what they can read.
  const text = shown?.text || resource || `${tool} ${JSON.stringify(parameters)}`;
  return (
    <pre class="cw-code" tabIndex={0} role="group" aria-label={t('What would be done')}>
      {visible(text)}
    </pre>
  );
}

/** Offers only the scopes that the server allows. */
function DecisionBar({ requests }: { requests: readonly PermissionRequest[] }): VNode {
  const { actions } = useRun();
  const deciding = useAction();
  const [saying, setSaying] = useState(false);
  const [why, setWhy] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (saying) {
      field.current?.focus();
    }
  }, [saying]);
  const lasting = scopesOf(requests).filter(scope => scope !== 'once');
  const rules = [...new Set(requests.flatMap(request => request.rules ?? []))];
  const off = requests.length === 0;
  const decide = (decision: 'allow' | 'deny', scope: Scope, feedback?: string): void => {
    const ids = requests.map(({ id }) => id);
    void deciding.run(() =>
      actions.decide(ids, { decision, scope, ...(feedback ? { feedback } : {}) })
    );
  };
  return (
    <div class="cw-decide">
      <div class="cw-bar">
        <Button
          look="primary"
          busy={deciding.busy}
          disabled={off}
          onClick={() => decide('allow', 'once')}
        >
          {requests.length > 1 ? t('Allow these once') : t('Allow once')}
        </Button>
        {lasting.map(scope => (
          <Button
            key={scope}
            disabled={off || deciding.busy}
            onClick={() => decide('allow', scope)}
            title={scopeHelp(scope, rules)}
          >
            {scopeLabel(scope)}
          </Button>
        ))}
        <span class="cw-refuse">
          <Button
            look="danger"
            disabled={off || deciding.busy}
            onClick={() => decide('deny', 'once')}
          >
            {t('Deny')}
          </Button>
          <Button disabled={off} expanded={saying} onClick={() => setSaying(!saying)}>
            {t('Deny, and say why…')}
          </Button>
        </span>
      </div>
      {saying && (
        <form
          class="cw-write"
          onSubmit={submitting(() => {
            if (why.trim() && !deciding.busy) {
              decide('deny', 'once', why.trim());
            }
          })}
        >
          <input
            type="text"
            class="cw-input"
            value={why}
            aria-label={t('Why not, and what to do instead')}
            placeholder={t('Why not, and what to do instead')}
            onInput={event => setWhy(event.currentTarget.value)}
            onKeyDown={sendOnEnter}
            ref={field}
          />
          <Button
            look="danger"
            busy={deciding.busy}
            disabled={!why.trim()}
            onClick={() => decide('deny', 'once', why.trim())}
          >
            {t('Deny')}
          </Button>
        </form>
      )}
      {lasting.length > 0 && rules.length > 0 && <RuleNote rules={rules} />}
      <Failure error={deciding.error} />
    </div>
  );
}

function RuleNote({ rules }: { rules: readonly string[] }): VNode {
  const names: ComponentChildren[] = rules.map(rule => (
    <span key={rule} class="cw-chip">
      {oneLine(rule, 300)}
    </span>
  ));
  return (
    <p class="cw-dim">
      {t('Allowing it for longer writes the rule')} {names}
    </p>
  );
}

/** The scopes that all requests offer. */
function scopesOf(requests: readonly PermissionRequest[]): Scope[] {
  const order: Scope[] = ['once', 'session', 'workspace', 'global'];
  return order.filter(
    scope => requests.length > 0 && requests.every(({ scopes }) => scopes.includes(scope))
  );
}
