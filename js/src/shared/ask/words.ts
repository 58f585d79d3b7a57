/** How tools, risks and scopes are called on the screen. */

import type { Scope } from '../types';
import { t } from '../translate';
import { oneLine } from '../visible';

export function scopeWord(scope: Scope): string {
  switch (scope) {
    case 'session':
      return t('This session');
    case 'workspace':
      return t('Always here');
    case 'global':
      return t('Everywhere');
    default:
      return t('Once');
  }
}

export function scopeHelp(scope: Scope, rules: readonly string[]): string {
  const rule = rules.join(', ');
  switch (scope) {
    case 'session':
      return t('Allow %1 until this conversation ends', rule);
    case 'workspace':
      return t('Always allow %1 in this workspace', rule);
    default:
      return t('Always allow %1, in every workspace', rule);
  }
}

export function riskWord(risk: string): string {
  switch (risk) {
    case 'low':
      return t('low risk');
    case 'medium':
      return t('medium risk');
    case 'high':
      return t('high risk');
    default:
      return '';
  }
}

const TOOLS: Record<string, string> = {
  execute_command: 'Run a command',
  run_cell: 'Run a cell',
  run_code: 'Run code',
  update_file: 'Change a file',
  create_file: 'Create a file',
  delete_file: 'Delete a file',
  create_notebook: 'Create a notebook',
  insert_cell: 'Insert a cell',
  edit_cell: 'Change a cell',
  move_cell: 'Move a cell',
  delete_cell: 'Delete a cell',
  read_file: 'Read a file',
  read_notebook: 'Read a notebook',
  list_directory: 'List a folder',
  get_file_info: 'Look at a file',
  grep: 'Search',
  search_code: 'Search',
  search_symbol: 'Search',
  find_tools: 'Look for tools',
  list_variables: 'List the variables',
  inspect_variable: 'Look at a variable',
  delegate: 'Hand over a task'
};

/**
 * What a tool does, as one would say it; one of an MCP server says whose it is, and one we do not
 * know goes by its name.
 */
export function toolWords(tool: string): string {
  const words = Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  return words ? t(words) : oneLine(name ? `${name} (${server})` : tool, 80);
}
