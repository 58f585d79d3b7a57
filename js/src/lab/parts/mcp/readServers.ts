/** Wire types of MCP servers, and parsing of pasted entries. */

import { CoworkError } from '../../../shared/channel/channel';
import { t } from '../../../shared/text/translate';
import { jsonFault } from './jsonFault';

export interface McpTool {
  name: string;
  tool: string;
  description: string;
  /** The tool's own claims, unverified. */
  hints: Record<string, boolean>;
  permissions: string[];
  pinned: 'new' | 'same' | 'changed';
  problem: string;
}

export interface McpServer {
  name: string;
  source: 'user' | 'workspace';
  kind: string;
  enabled: boolean;
  state: 'unused' | 'idle' | 'starting' | 'ready' | 'failed';
  why: string;
  config: Record<string, unknown>;
  tools: McpTool[];
  output: string;
}

export interface NewServer {
  name: string;
  config: object;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Accepts a whole `mcpServers`, servers by name, or one entry with a separate name. Throws a
 * `CoworkError`.
 */
export function readServers(text: string, name: string): NewServer[] {
  const fault = jsonFault(text);
  if (fault !== null) {
    throw unreadable(
      t(
        'This is not JSON: line %1, column %2 should be %3.',
        String(fault.line),
        String(fault.column),
        fault.expected
      ),
      fault.offset
    );
  }
  let pasted: unknown = JSON.parse(text);
  if (isObject(pasted) && isObject(pasted['mcpServers'])) {
    pasted = pasted['mcpServers'];
  }
  if (!isObject(pasted)) {
    throw notAServer();
  }
  if ('command' in pasted || 'url' in pasted) {
    if (!name.trim()) {
      throw unreadable(t('Give it a name.'));
    }
    return [{ name: name.trim(), config: pasted }];
  }
  const found = Object.entries(pasted).flatMap(([key, config]) =>
    isObject(config) ? [{ name: key, config }] : []
  );
  if (found.length === 0) {
    throw notAServer();
  }
  return found;
}

function notAServer(): CoworkError {
  return unreadable(
    t(
      'This is not a server: it has neither a "command" nor a "url". Paste an entry from ' +
        'the settings of another program.'
    )
  );
}

/** `offset`: position of the error in the text. */
function unreadable(message: string, offset?: number): CoworkError {
  return new CoworkError({ code: 'unreadable', message, details: { offset } });
}
