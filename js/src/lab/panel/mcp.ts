/** MCP servers as the server tells of them, and entries as people paste them. */

import { t } from '../../shared/translate';

export interface McpTool {
  name: string;
  tool: string;
  description: string;
  /** What it claims; nobody has checked it. */
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

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The servers in what was pasted: a whole `mcpServers`, servers by name, or one entry, which needs a name. Throws a sentence. */
export function readServers(text: string, name: string): NewServer[] {
  let pasted: unknown;
  try {
    pasted = JSON.parse(text);
  } catch {
    throw new Error(t('This is not JSON. Paste an entry as it stands in the settings of other programs.'));
  }
  if (isObject(pasted) && isObject(pasted['mcpServers'])) {
    pasted = pasted['mcpServers'];
  }
  if (!isObject(pasted)) {
    throw new Error(t('This is no server.'));
  }
  if ('command' in pasted || 'url' in pasted) {
    if (!name.trim()) {
      throw new Error(t('Give it a name.'));
    }
    return [{ name: name.trim(), config: pasted }];
  }
  const found = Object.entries(pasted).flatMap(([key, config]) => (isObject(config) ? [{ name: key, config }] : []));
  if (found.length === 0) {
    throw new Error(t('This is no server.'));
  }
  return found;
}
