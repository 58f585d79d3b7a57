import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { moment } from '../text/format';
import type { Comparison, FieldChange, Page, Revision } from '../types';
import { msg, translateKnown, t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';
import { planUrl, type PlanRef } from './planRef';

const MAKERS: Record<string, string> = {
  planner: msg('Planner'),
  person: msg('You'),
  workflow: msg('Workflow')
};
const MARKS: Record<string, string> = { added: '+', removed: '−', changed: '~', moved: '↕' };

/** Revisions of a plan: who changed what, comparison of any two, restoring any one. */
export function History(place: PlanRef): VNode {
  const { channel, revision } = place;
  const loading = useAction();
  const { run: load } = loading;
  const restoring = useAction();
  const [items, setItems] = useState<Revision[]>([]);
  const address = planUrl(place, 'revisions');
  useEffect(() => {
    void load(async () => setItems((await channel.request<Page<Revision>>('GET', address)).items));
  }, [load, channel, address, revision]);
  const restore = (wanted: number): void => {
    const body = { revision: wanted, plan_id: place.planId };
    void restoring.run(() =>
      channel.request('POST', `context/${place.context}/plan/restore`, body)
    );
  };
  return (
    <section class="cw-history" aria-label={t('Plan history')}>
      <ol class="cw-revisions" aria-label={t('Revisions')}>
        {[...items].reverse().map(item => (
          <li key={item.revision} class="cw-revision">
            <span>
              <strong>{t('Revision %1', String(item.revision))}</strong>{' '}
              {[
                translateKnown(MAKERS[item.by] ?? item.by),
                item.change && oneLine(item.change, 200)
              ]
                .filter(Boolean)
                .join(': ')}{' '}
              <span class="cw-dim">{moment(item.made_at)}</span>
            </span>
            {item.revision < revision && (
              <Button
                busy={restoring.busy}
                label={t('Restore revision %1', String(item.revision))}
                onClick={() => restore(item.revision)}
              >
                {t('Restore')}
              </Button>
            )}
          </li>
        ))}
      </ol>
      <Failure error={loading.error ?? restoring.error} />
      {items.length > 1 && <Compare key={revision} place={place} items={items} />}
    </section>
  );
}

/** Starts with the newest revision and its predecessor. */
function Compare({ place, items }: { place: PlanRef; items: readonly Revision[] }): VNode {
  const { channel } = place;
  const newest = items[items.length - 1]?.revision ?? 1;
  const [from, setFrom] = useState(newest - 1);
  const [to, setTo] = useState(newest);
  const [found, setFound] = useState<Comparison | null>(null);
  const [error, setError] = useState<unknown>(null);
  const address = planUrl(place, 'compare', { from, to });
  useEffect(() => {
    let isWanted = true;
    channel.request<Comparison>('GET', address).then(
      answer => isWanted && (setFound(answer), setError(null)),
      (reason: unknown) => isWanted && setError(reason)
    );
    return () => {
      isWanted = false;
    };
  }, [channel, address]);
  const numbers = items.map(item => item.revision);
  return (
    <div class="cw-compare">
      <div class="cw-bar">
        <Choice label={t('Compare revision')} value={from} of={numbers} onChange={setFrom} />
        <Choice label={t('with')} value={to} of={numbers} onChange={setTo} />
      </div>
      <Failure error={error} />
      <div role="status">{found && <Differences found={found} />}</div>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: number;
  of: readonly number[];
  onChange: (value: number) => void;
}

function Choice({ label, value, of, onChange }: ChoiceProps): VNode {
  return (
    <label class="cw-check">
      <span>{label}</span>
      <select
        class="cw-input"
        value={String(value)}
        onChange={event => onChange(Number(event.currentTarget.value))}
      >
        {of.map(one => (
          <option key={one} value={String(one)}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

function Differences({ found }: { found: Comparison }): VNode {
  return (
    <>
      <p class="cw-dim">{oneLine(translateKnown(found.summary), 200)}</p>
      <ul class="cw-differences" aria-label={t('Differences')}>
        {found.fields.map(one => (
          <li key={one.field}>
            <Field change={one} />
          </li>
        ))}
        {found.steps.map(step => (
          <li key={`${step.id} ${step.change}`}>
            <span aria-hidden="true">{MARKS[step.change]}</span> {step.number}.{' '}
            {visible(bounded(step.action, 500))}{' '}
            <span class="cw-dim">({changeLabel(step.change)})</span>
            {step.fields.length > 0 && (
              <ul>
                {step.fields.map(one => (
                  <li key={one.field}>
                    <Field change={one} />
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function changeLabel(change: string): string {
  const words: Record<string, string> = {
    added: t('added'),
    removed: t('removed'),
    changed: t('changed'),
    moved: t('moved')
  };
  return words[change] ?? change;
}

/** The label of a plan field; unknown fields keep the server's name. */
function fieldLabel(field: string): string {
  const words: Record<string, string> = {
    goal: t('Goal'),
    risks: t('Risks'),
    needs: t('Needs'),
    assumptions: t('Assumptions'),
    action: t('Action'),
    reason: t('Reason'),
    role: t('Role'),
    agent: t('Agent'),
    'rounds of review': t('Rounds of review'),
    tools: t('Tools'),
    files: t('Files'),
    expects: t('Expects'),
    'after step': t('After step'),
    'estimated time': t('Estimated time')
  };
  return words[field] ?? field;
}

function Field({ change: { field, before, after } }: { change: FieldChange }): VNode {
  return (
    <>
      <span class="cw-dim">{fieldLabel(field)}: </span>
      {before && <del>{visible(bounded(before, 1000))}</del>}
      {before && after && ' → '}
      {after && <ins>{visible(bounded(after, 1000))}</ins>}
    </>
  );
}
