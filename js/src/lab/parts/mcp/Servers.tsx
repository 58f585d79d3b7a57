import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { TextField } from '../../../shared/ui/TextField';
import { useAction } from '../../../shared/ui/useAction';
import { Button, Failure } from '../../../shared/ui/Button';
import { CoworkError, isRecord } from '../../../shared/channel/channel';
import { Fold } from '../../../shared/ui/Fold';
import { Note } from '../../../shared/ui/Note';
import type { Page } from '../../../shared/types';
import { t } from '../../../shared/text/translate';
import { bounded, oneLine, visible } from '../../../shared/text/visible';
import { useFollowed, usePanel } from '../../panel/context';
import { readServers, type McpServer, type McpTool } from './readServers';
import { McpOffers } from './Offers';

const RELOAD_EVENTS = ['job-completed', 'tool-result'];

const COLOURS = { ready: 'ok', failed: 'error', starting: 'ask', idle: 'grey', unused: 'grey' };
const MAX_OUTPUT = 8000;

/** MCP servers with their status, tools and claims. */
export function Servers(): VNode {
  const { value, error, reload } = useFollowed<Page<McpServer>>('mcp/servers', RELOAD_EVENTS);
  return (
    <>
      <Failure error={error} />
      {value?.items.length === 0 && (
        <p class="cw-row cw-dim">{t('No servers yet. MCP tools need approval before they run.')}</p>
      )}
      <ul class="cw-list">
        {value?.items.map(server => (
          <Row key={`${server.source} ${server.name}`} server={server} onChange={reload} />
        ))}
      </ul>
      <div class="cw-row">
        <Fold summary={t('Add a server')}>{() => <NewServerForm onAdded={reload} />}</Fold>
      </div>
    </>
  );
}

function Row({ server, onChange }: { server: McpServer; onChange: () => void }): VNode {
  const { channel } = usePanel();
  const acting = useAction();
  const address = `mcp/servers/${encodeURIComponent(server.name)}`;
  const name = oneLine(server.name, 60);
  const act = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): void => {
    void acting.run(() => channel.request(method, path, body)).then(onChange);
  };
  const { state } = server;
  const used = state !== 'unused';
  return (
    <li class="cw-row cw-rule">
      <div>
        <span class={`cw-pill cw-colour-${COLOURS[state]}`}>{stateLabel(state)}</span>{' '}
        <span class="cw-chip">{name}</span>
        <p class="cw-dim">{about(server)}</p>
        {server.why && <p class="cw-dim">{visible(bounded(server.why, 500))}</p>}
        {server.tools.some(one => one.pinned === 'changed') && (
          <Note>{t('Its tool descriptions have changed, so its tools ask again.')}</Note>
        )}
        {server.tools.length > 0 && (
          <Fold summary={t('Tools: %1', String(server.tools.length))}>
            {() => <Tools tools={server.tools} />}
          </Fold>
        )}
        {used && (
          <Fold summary={t('What it offers you')}>{() => <McpOffers address={address} />}</Fold>
        )}
        {server.output && (
          <Fold summary={t('What it wrote')}>
            {() => (
              <pre
                class="cw-code cw-output"
                tabIndex={0}
                role="group"
                aria-label={t('What %1 wrote', name)}
              >
                {visible(server.output.slice(-MAX_OUTPUT))}
              </pre>
            )}
          </Fold>
        )}
      </div>
      <div class="cw-bar">
        {used && (
          <Button
            busy={acting.busy}
            label={t('Restart %1', name)}
            onClick={() => act('POST', `${address}/restart`)}
          >
            {server.state === 'idle' ? t('Start') : t('Restart')}
          </Button>
        )}
        <Button
          busy={acting.busy}
          label={server.enabled ? t('Disable %1', name) : t('Enable %1', name)}
          onClick={() => act('PUT', address, { enabled: !server.enabled })}
        >
          {server.enabled ? t('Disable') : t('Enable')}
        </Button>
        {server.source === 'user' && (
          <Button
            look="danger"
            busy={acting.busy}
            label={t('Remove %1', name)}
            onClick={() => act('DELETE', address)}
          >
            {t('Remove')}
          </Button>
        )}
      </div>
      <Failure error={acting.error} />
    </li>
  );
}

function stateLabel(state: McpServer['state']): string {
  return {
    ready: t('Runs'),
    starting: t('Starting'),
    failed: t('Failed'),
    idle: t('Not started'),
    unused: t('Not used')
  }[state];
}

function about({ source, kind }: McpServer): string {
  const whose = source === 'user' ? t('Yours') : t('Came with this workspace');
  return kind === 'stdio'
    ? t('%1; a program on the server’s machine.', whose)
    : t('%1; over the network.', whose);
}

function Tools({ tools }: { tools: readonly McpTool[] }): VNode {
  return (
    <ul class="cw-trust">
      {tools.map(one => (
        <li key={one.name}>
          <span class="cw-chip">{oneLine(one.tool, 80)}</span>
          <p class="cw-dim">{oneLine(one.description, 400)}</p>
          <p class="cw-dim">{claims(one)}</p>
          {one.problem && <p class="cw-dim">{t('Not offered: %1.', oneLine(one.problem, 200))}</p>}
        </li>
      ))}
    </ul>
  );
}

/** Permissions a role needs for the tool, and the tool's unverified hints. */
function claims({ hints, permissions }: McpTool): string {
  const hintLabels = Object.entries(hints).map(([hint, so]) =>
    so ? oneLine(hint, 40) : t('not %1', oneLine(hint, 40))
  );
  const needs = t('Needs %1.', permissions.join(', '));
  return hintLabels.length === 0
    ? needs
    : `${needs} ${t('It claims to be %1; this is not verified.', hintLabels.join(', '))}`;
}

function NewServerForm({ onAdded }: { onAdded: () => void }): VNode {
  const { channel } = usePanel();
  const adding = useAction();
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const add = (): void => {
    const each = async (): Promise<void> => {
      for (const server of readServers(text, name)) {
        await channel.request('POST', 'mcp/servers', server);
      }
      setName('');
      setText('');
    };
    const showFault = (error: unknown): never => {
      const offset =
        error instanceof CoworkError && isRecord(error.details)
          ? error.details['offset']
          : undefined;
      if (typeof offset === 'number') {
        field.current?.focus();
        field.current?.setSelectionRange(offset, offset + 1);
      }
      throw error;
    };
    void adding.run(() => each().catch(showFault)).then(onAdded);
  };
  return (
    <div class="cw-form">
      <TextField label={t('Name')} value={name} onText={setName} />
      <label class="cw-field">
        <span>{t('Settings')}</span>
        <textarea
          ref={field}
          class="cw-input"
          rows={4}
          spellcheck={false}
          value={text}
          placeholder={'{"command": "npx", "args": ["-y", "…"], "env": {"TOKEN": "${TOKEN}"}}'}
          onInput={event => setText(event.currentTarget.value)}
        />
        <span class="cw-dim">
          {t(
            'The same format as in other programs. Write secrets as %1: they are read from ' +
              'your Jupyter server\u2019s environment.',
            '${NAME}'
          )}
        </span>
      </label>
      <Failure error={adding.error} />
      <div class="cw-bar">
        <Button look="primary" busy={adding.busy} disabled={!text.trim()} onClick={add}>
          {t('Add')}
        </Button>
      </div>
    </div>
  );
}
