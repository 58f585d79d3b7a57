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

/** What a tool does, as one would say it; a tool we do not know goes by its name. */
export function toolWords(tool: string): string {
  switch (tool) {
    case 'execute_command':
      return t('Run a command');
    case 'run_cell':
      return t('Run a cell');
    case 'run_code':
      return t('Run code');
    case 'update_file':
      return t('Change a file');
    case 'create_file':
      return t('Create a file');
    case 'delete_file':
      return t('Delete a file');
    case 'create_notebook':
      return t('Create a notebook');
    case 'insert_cell':
      return t('Insert a cell');
    case 'edit_cell':
      return t('Change a cell');
    case 'move_cell':
      return t('Move a cell');
    case 'delete_cell':
      return t('Delete a cell');
    case 'read_file':
    case 'read_notebook':
      return t('Read a file');
    case 'delegate':
      return t('Hand over a task');
    default:
      return oneLine(tool, 80);
  }
}
