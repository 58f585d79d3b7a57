/** Labels of tools, risks and scopes. */

import type { Scope } from '../types';
import { msg, translateKnown, t } from '../text/translate';
import { oneLine } from '../text/visible';

export function scopeLabel(scope: Scope): string {
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

export function riskLabel(risk: string): string {
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
  execute_command: msg('Run a command'),
  run_cell: msg('Run a cell'),
  run_code: msg('Run code'),
  update_file: msg('Change a file'),
  create_file: msg('Create a file'),
  delete_file: msg('Delete a file'),
  create_notebook: msg('Create a notebook'),
  insert_cell: msg('Insert a cell'),
  edit_cell: msg('Change a cell'),
  move_cell: msg('Move a cell'),
  delete_cell: msg('Delete a cell'),
  read_file: msg('Read a file'),
  read_notebook: msg('Read a notebook'),
  list_directory: msg('List a folder'),
  get_file_info: msg('Look at a file'),
  grep: msg('Search'),
  search_code: msg('Search'),
  search_symbol: msg('Search'),
  describe_table: msg('Describe a table'),
  query_table: msg('Query tables'),
  find_tools: msg('Look for tools'),
  list_variables: msg('List the variables'),
  inspect_variable: msg('Look at a variable'),
  delegate: msg('Hand over a task')
};

/** Unknown tools keep their name; tools of an MCP server also name the server. */
export function toolLabel(tool: string): string {
  const words = Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  return words ? translateKnown(words) : oneLine(name ? `${name} (${server})` : tool, 80);
}
