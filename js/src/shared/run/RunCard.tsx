import type { VNode } from 'preact';
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';

import { PermissionBatch, PermissionCard } from '../ask/PermissionCard';
import { QuestionCard } from '../ask/QuestionCard';
import { toolLabel } from '../ask/labels';
import { Card } from '../ui/Card';
import type { Channel } from '../channel/channel';
import { useHost } from '../card/host';
import { ExpectationList } from '../effects/Expectations';
import { lazy } from '../ui/lazy';
import { Note } from '../ui/Note';
import { PlanView } from '../plan/PlanView';
import type { Audit, PlanStep, Question, RunCardData } from '../types';
import { SavedRoles, useFetchedRoles, useRoles } from '../role/roles';
import { plainLine } from '../text/plain';
import { t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';
import { RunActions } from './actions';
import { Announcer } from './Announcer';
import { RunProvider } from './context';
import { Attachments, Conversation, Drafts } from './Conversation';
import { Delegations } from './Delegations';
import { mainEntries } from './grouping';
import { GuidanceLine } from './guidance';
import { useKeepFocus } from './useKeepFocus';
import { OmittedMessages, RecordNote, RunAgainNote, RunError } from './RunNotes';
import { RunFooter } from './RunFooter';
import { Progress, RunFigures, RunHeader } from './RunHeader';
import { BLANK } from './snapshot';
import {
  executionOf,
  isFinal,
  presentJob,
  roleOf,
  runningCheck,
  statusOf,
  type RunState,
  type TextEntry
} from './state';
import { RunStore } from './store';

/** Loaded on demand: most plans are executed as they are. */
const PlanEditor = lazy(async () => (await import('../plan/PlanEditor')).PlanEditor);

interface RunCardProps {
  card: RunCardData;
  channel: Channel;
  /** Called on each change, so that the page can update the saved card. */
  onChange?: (store: RunStore) => void;
}

/** One run, or its replacement after the user starts over. */
export function RunCard({ card, channel, onChange }: RunCardProps): VNode {
  const [moved, setMoved] = useState<{ from: string; card: RunCardData } | null>(null);
  const shown = moved?.from === card.job_id ? moved.card : card;
  const onStartOver = (place: { context_id: string; job_id: string }): void =>
    setMoved({ from: card.job_id, card: { ...withoutPast(card), ...place } });
  return (
    <SavedRoles value={shown.roles}>
      <Run
        key={shown.job_id}
        card={shown}
        channel={channel}
        onStartOver={onStartOver}
        {...(onChange ? { onChange } : {})}
      />
    </SavedRoles>
  );
}

function withoutPast({ again: _again, ...card }: RunCardData): RunCardData {
  const blank = { ...BLANK, jobs: [], plan_id: null, rights: '', guidance: [], left_out: 0 };
  return { ...card, snapshot: { ...card.snapshot, ...blank } };
}

interface RunProps extends RunCardProps {
  onStartOver: (place: { context_id: string; job_id: string }) => void;
}

function Run({ card, channel, onChange, onStartOver }: RunProps): VNode {
  const store = useStore(card, channel, onChange);
  const { state, link, trusted: live } = store;
  const runContext = useMemo(
    () => ({ actions: new RunActions(channel, store), live }),
    [channel, store, live]
  );
  const [editing, setEditing] = useState(false);
  const audit = useAudit(runContext.actions, state, live);
  const root = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(false);
  const { allows, Comments, lines = [] } = useHost();
  useKeepFocus(root);
  const role = useRoles()(roleOf(state));
  const acting = Object.values(state.tasks).map(task => task.role);
  useFetchedRoles(channel, live ? [role.name, ...acting] : []);
  const failed = statusOf(state) === 'failed';
  return (
    <RunProvider value={runContext}>
      <div
        class="cw-run"
        ref={root}
        onFocusIn={() => setNear(true)}
        onPointerOver={() => setNear(true)}
        data-context-id={card.context_id}
        data-job-id={card.job_id}
        data-host={card.host}
      >
        <Card
          edge={failed ? 'error' : role.colour}
          label={t('%1: %2', role.label, oneLine(state.goal || card.title))}
          header={<RunHeader state={state} />}
          aside={<RunFigures state={state} link={link} />}
          progress={<Progress state={state} />}
          footer={
            live &&
            !editing &&
            (canContinue(state) || runningCheck(state) !== null) && (
              <RunFooter state={state} onEdit={() => setEditing(true)} />
            )
          }
        >
          {link === 'record' && <RecordNote card={card} copiedFrom={store.copiedFrom} />}
          <Body
            state={state}
            live={live}
            audit={audit}
            editing={editing}
            onEdited={() => setEditing(false)}
          />
          {live && card.again && canContinue(state) && (
            <RunAgainNote again={card.again} onStartOver={onStartOver} />
          )}
        </Card>
        {live && near && Comments && allows?.('comments') !== false && (
          <Comments root={root} id={card.job_id} />
        )}
        {live && <OpenRequests state={state} />}
        {state.late && <Note>{t('Answered elsewhere.')}</Note>}
        {live && lines.map((Line, at) => <Line key={at} channel={channel} state={state} />)}
        <Announcer state={state} />
      </div>
    </RunProvider>
  );
}

function canContinue(state: RunState): boolean {
  const job = presentJob(state);
  return job !== null && isFinal(job.status) && state.busy === null;
}

function useStore(
  card: RunCardData,
  channel: Channel,
  onChange?: (store: RunStore) => void
): RunStore {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const { notebook } = useHost();
  const [store] = useState(() => new RunStore(channel, card, notebook));
  const tell = useRef(onChange);
  tell.current = onChange;
  useEffect(() => {
    const stop = store.onChange(() => {
      draw(0);
      tell.current?.(store);
    });
    const look = (): void => {
      if (document.visibilityState === 'visible') {
        store.refreshPlan().catch(() => undefined);
      }
    };
    document.addEventListener('visibilitychange', look);
    void store.open();
    return () => {
      stop();
      document.removeEventListener('visibilitychange', look);
      store.close();
    };
  }, [store]);
  // The notebook may hold a newer card, which counts until the server has answered.
  useEffect(() => store.takeSaved(card), [store, card]);
  return store;
}

/** Plan versus actual, once the run has ended. */
function useAudit(actions: RunActions, state: RunState, live: boolean): Audit | null {
  const [audit, setAudit] = useState<Audit | null>(null);
  const job = executionOf(state);
  const isOver = live && job !== null && isFinal(job.status);
  useEffect(() => {
    setAudit(null);
    if (isOver) {
      // Optional: without it the steps still show how they ended.
      actions.audit().then(setAudit, () => undefined);
    }
  }, [actions, isOver, job?.id]);
  return audit;
}

interface BodyProps {
  state: RunState;
  live: boolean;
  audit: Audit | null;
  editing: boolean;
  onEdited: () => void;
}

/** What led to the plan is above it, what came of it below. */
function Body({ state, live, audit, editing, onEdited }: BodyProps): VNode {
  const { plan, tasks, goal, jobs } = state;
  const entries = useMemo(
    () => mainEntries({ entries: state.entries, plan, tasks, goal, jobs }),
    [state.entries, plan, tasks, goal, jobs]
  );
  const asked = state.entries.find(
    (one): one is TextEntry =>
      one.kind === 'text' && one.from === 'user' && one.text.trim() === goal.trim()
  );
  const made = entries.map(entry => entry.kind).lastIndexOf('plan') + 1;
  const steps = new Set(Object.values(state.tasks).map(task => task.id));
  const drafts = Object.values(state.drafts).filter(
    draft => !(draft.task && steps.has(draft.task))
  );
  return (
    <>
      {plan === null && state.goal && <p class="cw-goal">{visible(bounded(state.goal, 2000))}</p>}
      {asked && <Attachments entry={asked} />}
      <GuidanceLine used={state.guidance} />
      <OmittedMessages count={state.leftOut} />
      {plan !== null && <Conversation entries={entries.slice(0, made)} />}
      {plan !== null &&
        (editing ? (
          <PlanEditor plan={plan} revision={state.revision} onDone={onEdited} />
        ) : (
          <PlanView state={state} plan={plan} audit={audit} />
        ))}
      {plan === null ? (
        <Delegations state={state} entries={entries} />
      ) : (
        <Conversation entries={entries.slice(made)} />
      )}
      <Drafts drafts={drafts} />
      {live && hasEffects(state) && <ExpectationList />}
      <RunError state={state} />
      {!live && <UnansweredRequests state={state} />}
    </>
  );
}

function hasEffects({ entries, plan }: RunState): boolean {
  return (
    entries.some(entry => entry.kind === 'call' && entry.effects.length > 0) ||
    (plan?.steps.some(({ expects }) => expects.length > 0) ?? false)
  );
}

/** Open requests, each where it can be decided; many permissions in one batch. */
function OpenRequests({ state }: { state: RunState }): VNode {
  const found = (taskId: string | null | undefined): PlanStep | undefined =>
    taskId ? state.plan?.steps.find(({ id }) => state.tasks[id]?.id === taskId) : undefined;
  const stepOf = (taskId: string | null | undefined): string | null => {
    const step = found(taskId);
    return step ? t('step %1', String(step.step_number)) : null;
  };
  // The failed step, just above, already gives the reason.
  const isSaid = ({ context, task_id }: Question): boolean => {
    const step = found(task_id);
    return step !== undefined && state.tasks[step.id]?.error === context;
  };
  return (
    <>
      {state.permissions.length > 1 ? (
        <PermissionBatch requests={state.permissions} />
      ) : (
        state.permissions.map(request => (
          <PermissionCard key={request.id} request={request} step={stepOf(request.task_id)} />
        ))
      )}
      {state.questions.map(question => (
        <QuestionCard
          key={question.id}
          question={isSaid(question) ? { ...question, context: '' } : question}
          step={stepOf(question.task_id)}
        />
      ))}
    </>
  );
}

/** A record cannot be answered; it only says what was open. */
function UnansweredRequests({ state }: { state: RunState }): VNode {
  const open = [
    ...state.permissions.map(
      ({ tool, resource }) => `${toolLabel(tool)}: ${oneLine(resource, 300)}`
    ),
    ...state.questions.map(({ question }) => plainLine(question, 300))
  ];
  return (
    <>
      {open.map((words, at) => (
        <p key={at} class="cw-line cw-colour-ask">
          {t('Was waiting for an answer: %1', words)}
        </p>
      ))}
    </>
  );
}
