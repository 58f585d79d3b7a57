/** Answers as a server gives them. */

import type { Health, Role, StatusCardData } from '../src/shared/types';

export const READY: Health = {
  version: '0.1.0',
  model: {
    provider: 'openai',
    name: 'gpt-5-mini',
    base_url: 'https://models.example/v1',
    ready: true,
    why_not: null,
    source: 'environment',
    problem: null,
    models: [],
    small_model: '',
    sees: false
  },
  sandbox: 'landlock',
  workspace: '/home/me/project',
  problems: []
};

export const NOT_READY: Health = {
  ...READY,
  model: {
    provider: 'none',
    name: null,
    base_url: null,
    ready: false,
    why_not: 'Set COWORK_MODEL first.',
    source: 'built-in',
    problem: 'model',
    models: [],
    small_model: '',
    sees: false
  }
};

export const GUIDE: Health = {
  ...READY,
  model: {
    provider: 'built-in',
    name: 'built-in guide · no language model',
    base_url: null,
    ready: true,
    why_not: null,
    source: 'built-in',
    problem: null,
    models: [],
    small_model: '',
    sees: false
  }
};

export const WITH_PROBLEM: Health = {
  ...READY,
  problems: [{ code: 'workspace_not_writable', message: 'The workspace cannot be written to.' }]
};

export const PLANNER: Role = {
  name: 'planner',
  label: 'Planner',
  icon: 'search',
  colour: 'blue',
  description: 'As the server describes it.',
  permissions: ['read_files'],
  tools: ['read_file'],
  delegates_to: []
};

export const STATISTICIAN: Role = {
  ...PLANNER,
  name: 'statistician',
  label: 'Statistician',
  icon: 'chart',
  colour: 'brown',
  description: 'Tests hypotheses.'
};

export function statusCard(health: Health, changes: Partial<StatusCardData> = {}): StatusCardData {
  return {
    kind: 'status',
    role: 'planner',
    title: 'Clean sales.csv',
    note: null,
    health,
    ...changes
  };
}
