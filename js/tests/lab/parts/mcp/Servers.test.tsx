import { describe, expect, it } from 'vitest';

import { readServers, type McpServer } from '../../../../src/lab/parts/mcp/readServers';
import { Servers } from '../../../../src/lab/parts/mcp/Servers';
import { button, one } from '../../../screen';
import { drawIn, list, press, unfold, write, type Drawn } from '../../panel/drawing';

const TOOL = {
  name: 'read',
  tool: 'mcp__files__read',
  description: '[the server files says: “Reads.”]',
  permissions: ['execute_commands'],
  problem: ''
};
const LYING = {
  ...TOOL,
  hints: { 'read-only': true, destructive: false },
  pinned: 'same' as const
};
const FILES: McpServer = {
  ...{
    name: 'files',
    source: 'user',
    kind: 'stdio',
    enabled: true,
    state: 'ready',
    why: '',
    config: {}
  },
  ...{ tools: [LYING], output: 'Listening\u202e on stdio' }
};
const THEIRS: McpServer = {
  ...FILES,
  name: 'their server',
  source: 'workspace',
  state: 'unused',
  why: 'it is not trusted',
  tools: [],
  output: ''
};

async function opened(answers: Record<string, unknown>): Promise<Drawn> {
  return drawIn(<Servers />, answers);
}

async function unfoldAll({ screen }: Drawn): Promise<void> {
  for (const fold of screen.querySelectorAll<HTMLDetailsElement>('.cw-fold')) {
    await unfold(fold);
  }
}

describe('MCP servers', () => {
  it('show how they are doing, and what they claim as a claim', async () => {
    const offers = {
      'GET mcp/servers/files/resources': list(),
      'GET mcp/servers/files/prompts': list()
    };
    const drawn = await opened({ 'GET mcp/servers': list(FILES, THEIRS), ...offers });
    await unfoldAll(drawn);
    const text = drawn.screen.textContent;
    expect(text).toContain('Runs files');
    expect(text).toContain(
      'Needs execute_commands. It claims to be read-only, not destructive; this is not verified.'
    );
    expect(text).toContain('Listening⟨U+202E⟩ on stdio');
    expect(text).toContain('Not used their server');
    expect(text).toContain(
      'Came with this workspace; a program on the server’s machine.it is not trusted'
    );
  });

  it('tell when their tools have changed', async () => {
    const changed = { ...FILES, tools: [{ ...LYING, pinned: 'changed' }] };
    const { screen } = await opened({ 'GET mcp/servers': list(changed) });
    expect(screen.textContent).toContain(
      'Its tool descriptions have changed, so its tools ask again.'
    );
  });

  it('are restarted, disabled and removed; one of the workspace is not removed', async () => {
    const there = {
      'POST mcp/servers/files/restart': FILES,
      'PUT mcp/servers/their%20server': THEIRS,
      'DELETE mcp/servers/files': {}
    };
    const { screen, server } = await opened({ 'GET mcp/servers': list(FILES, THEIRS), ...there });
    await press(button(screen, 'Restart'));
    await press(one(screen, '[aria-label="Disable their server"]'));
    await press(button(screen, 'Remove'));
    expect(server.changes).toEqual([
      { method: 'POST', path: 'mcp/servers/files/restart', body: null },
      { method: 'PUT', path: 'mcp/servers/their%20server', body: { enabled: false } },
      { method: 'DELETE', path: 'mcp/servers/files', body: null }
    ]);
    expect(screen.querySelectorAll('.cw-danger')).toHaveLength(1);
  });

  it('are added as they stand in other programs', async () => {
    const drawn = await opened({ 'GET mcp/servers': list(), 'POST mcp/servers': FILES });
    await unfoldAll(drawn);
    await write(
      one<HTMLTextAreaElement>(drawn.screen, 'textarea'),
      '{"mcpServers": {"a": {"command": "x"}, "b": {"url": "http://y"}}}'
    );
    await press(button(drawn.screen, 'Add'));
    expect(drawn.server.changes.map(({ body }) => body)).toEqual([
      { name: 'a', config: { command: 'x' } },
      { name: 'b', config: { url: 'http://y' } }
    ]);
  });

  it('are not added from bad JSON: the form says where it is bad, shows the place, and keeps the text', async () => {
    const drawn = await opened({ 'GET mcp/servers': list() });
    await unfoldAll(drawn);
    const area = one<HTMLTextAreaElement>(drawn.screen, 'textarea');
    const text = '{\n  "command": "npx"\n  "args": []\n}';
    await write(area, text);
    await press(button(drawn.screen, 'Add'));
    expect(one(drawn.screen, '.cw-form [role=alert]').textContent).toBe(
      'This is not JSON: line 3, column 3 should be , or }.'
    );
    expect(area.value).toBe(text);
    expect(area.selectionStart).toBe(text.indexOf('"args"'));
    expect(drawn.server.changes).toEqual([]);
  });

  it('offer texts and prompts to the user', async () => {
    const drawn = await opened({
      'GET mcp/servers': list({ ...FILES, tools: [], output: '' }),
      'GET mcp/servers/files/resources': list({ uri: 'a://b?c', name: 'Notes' }),
      'GET mcp/servers/files/prompts': list({
        name: 'report',
        description: '',
        arguments: [{ name: 'city', required: true }]
      }),
      'POST mcp/servers/files/resources': { text: 'Some notes' },
      'POST mcp/servers/files/prompts/report': { text: 'Write about Bonn' }
    });
    await unfoldAll(drawn);
    await press(button(drawn.screen, 'Notes'));
    expect(one(drawn.screen, 'pre').textContent).toBe('Some notes');
    const read = { method: 'POST', path: 'mcp/servers/files/resources', body: { uri: 'a://b?c' } };
    await press(button(drawn.screen, 'Prompt: report'));
    expect(drawn.server.changes).toEqual([read]);
    await write(one<HTMLInputElement>(drawn.screen, '.cw-trust input'), 'Bonn');
    await press(button(drawn.screen, 'Prompt: report'));
    expect(drawn.server.changes).toEqual([
      read,
      {
        method: 'POST',
        path: 'mcp/servers/files/prompts/report',
        body: { arguments: { city: 'Bonn' } }
      }
    ]);
    expect(one(drawn.screen, 'pre').textContent).toBe('Write about Bonn');
  });
});

describe('a pasted entry', () => {
  it('is read in all the forms that people have', () => {
    const entry = { name: 'x', config: { command: 'a' } };
    expect(readServers('{"command": "a"}', ' x ')).toEqual([entry]);
    expect(readServers('{"x": {"command": "a"}}', '')).toEqual([entry]);
    expect(readServers('{"mcpServers": {"x": {"command": "a"}}}', 'ignored')).toEqual([entry]);
  });

  it('that is none says so', () => {
    expect(() => readServers('npx -y', 'x')).toThrow('This is not JSON');
    expect(() => readServers('[]', 'x')).toThrow('This is not a server');
    expect(() => readServers('{}', 'x')).toThrow('This is not a server');
    expect(() => readServers('{"command": "a"}', ' ')).toThrow('Give it a name');
  });
});
