import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';

import { toolLabel } from '../ask/labels';
import { InsertButton } from '../text/CodeBlock';
import { CopyButton } from '../ui/CopyButton';
import { Diff, DiffCounts } from '../ui/Diff';
import { EffectLines } from '../effects/EffectLines';
import { duration } from '../text/format';
import { Fold } from '../ui/Fold';
import { Icon } from '../ui/icons';
import { t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';
import { readsSentence } from './grouping';
import { SetAsideNote } from './SetAside';
import { isInScratch, type CallEntry } from './state';

const MAX_SHOWN = 20_000;

/** One line with the outcome; open it for the call, its output or diff. */
export function ToolCall({ call }: { call: CallEntry }): VNode {
  return useMemo(
    () => (
      <div class="cw-call">
        <Fold summary={<CallLine call={call} />}>{() => <CallInside call={call} />}</Fold>
        {call.ok === null && call.output && <Output text={call.output} />}
        <EffectLines effects={call.effects} />
        {call.setAside && <SetAsideNote left={call.setAside} />}
        {call.refused === 'open_elsewhere' && <ProposedCell call={call} />}
        {call.ok && isInScratch(call) && (
          <div class="cw-snippet-tools">
            <InsertButton code={String(call.parameters['code'])} label={t('Keep as cell')} />
          </div>
        )}
      </div>
    ),
    [call]
  );
}

function CallLine({ call }: { call: CallEntry }): VNode {
  return (
    <span class="cw-call-line">
      <CallMark ok={call.ok} /> <span class="cw-chip">{toolLabel(call.tool)}</span>{' '}
      <span>{oneLine(call.summary || target(call), 300)}</span>{' '}
      {call.diff && <DiffCounts text={call.diff} />}{' '}
      {call.seconds >= 1 && <span class="cw-dim">{duration(call.seconds)}</span>}
    </span>
  );
}

function CallMark({ ok }: { ok: boolean | null }): VNode {
  if (ok === null) {
    return <span class="cw-spinner cw-colour-blue cw-mark" role="img" aria-label={t('running')} />;
  }
  return (
    <span
      class={`cw-mark cw-colour-${ok ? 'ok' : 'error'}`}
      role="img"
      aria-label={ok ? t('done') : t('failed')}
    >
      <Icon name={ok ? 'check' : 'cross'} />
    </span>
  );
}

/** The call's subject, while there is no result yet. */
function target({ parameters }: CallEntry): string {
  const value = ['path', 'command', 'name', 'query', 'sql', 'pattern', 'task']
    .map(key => parameters[key])
    .find(one => typeof one === 'string');
  return typeof value === 'string' ? value : '';
}

function CallInside({ call }: { call: CallEntry }): VNode {
  const text = call.result || call.output;
  return (
    <>
      <CallFacts tool={call.tool} parameters={call.parameters} />
      {call.diff ? (
        <Diff text={call.diff} label={t('What it changed')} />
      ) : (
        text && <Output text={text} />
      )}
    </>
  );
}

/** A cell for a notebook that another program has open: only the user can insert it. */
function ProposedCell({ call: { tool, parameters } }: { call: CallEntry }): VNode | null {
  const source = parameters['source'];
  if (typeof source !== 'string') {
    return null;
  }
  return (
    <div class="cw-proposed">
      <Output text={source} />
      <p class="cw-dim">
        <CopyButton text={source} label={t('Copy the cell')} />{' '}
        {tool === 'insert_cell'
          ? t('Copy it into the notebook, or run %cowork insert there.')
          : t('Copy it into the cell.')}
      </p>
    </div>
  );
}

/** The call as the model wrote it. */
export function CallFacts({
  tool,
  parameters
}: {
  tool: string;
  parameters: Record<string, unknown>;
}): VNode {
  const facts = Object.entries({ [t('Tool')]: tool, ...parameters });
  return (
    <dl class="cw-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{oneLine(name, 60)}</dt>
          <dd>
            {visible(
              bounded(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), 4000)
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Output({ text }: { text: string }): VNode {
  return (
    <pre class="cw-code cw-output" tabIndex={0} role="group" aria-label={t('Output')}>
      {visible(text.length > MAX_SHOWN ? `…${text.slice(-MAX_SHOWN)}` : text)}
    </pre>
  );
}

/** "Looked at 4 files": read-only calls share one line. */
export function Reads({ calls }: { calls: readonly CallEntry[] }): VNode {
  const isRunning = calls.some(call => call.ok === null);
  return useMemo(
    () => (
      <Fold
        summary={
          <span class="cw-dim">
            {isRunning && (
              <span
                class="cw-spinner cw-colour-blue cw-mark"
                role="img"
                aria-label={t('running')}
              />
            )}
            {readsSentence(calls)}
          </span>
        }
      >
        {() => calls.map(call => <ToolCall key={call.id} call={call} />)}
      </Fold>
    ),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a new array of the same
    calls as CallEntry[]
  );
}
