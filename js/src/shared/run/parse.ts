/** Parses wire data defensively: missing or mistyped values become harmless defaults. */

import { assumptionsOf, expectationsOf } from '../effects/parse';
import { isRecord } from '../channel/channel';
import type {
  PermissionRequest,
  Plan,
  PlanStep,
  Question,
  Reproduction,
  Review,
  Scope,
  StepStatus,
  Usage
} from '../types';

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : [];
}

export function questionOf(data: Record<string, unknown>): Question {
  const options = Array.isArray(data['options']) ? data['options'].filter(isRecord) : [];
  return {
    id: text(data['id']),
    job_id: text(data['job_id']) || null,
    task_id: text(data['task_id']) || null,
    question: text(data['question']),
    context: text(data['context']),
    severity: text(data['severity']) || 'major',
    options: options.map(one => ({
      label: text(one['label']),
      value: text(one['value']),
      description: text(one['description'])
    })),
    default: text(data['default']) || null,
    // Without options, any text is an answer.
    allow_custom: data['allow_custom'] === true || options.length === 0,
    unused: texts(data['unused'])
  };
}

export function reviewOf(data: Record<string, unknown>): Review {
  const findings = Array.isArray(data['findings']) ? data['findings'].filter(isRecord) : [];
  return {
    summary: text(data['summary']),
    verdict: text(data['verdict']),
    findings: findings.map(one => ({
      file: text(one['file']),
      line: typeof one['line'] === 'number' ? one['line'] : null,
      severity: text(one['severity']) || 'minor',
      comment: text(one['comment']),
      suggestion: text(one['suggestion'])
    }))
  };
}

function records(value: unknown): unknown[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function planOf(data: Record<string, unknown>): Plan {
  const steps = Array.isArray(data['steps']) ? data['steps'].filter(isRecord) : [];
  return {
    type: 'plan',
    id: text(data['id']),
    format_version: text(data['format_version']) || '1.0',
    goal: text(data['goal']),
    steps: steps.map((step, index) => ({
      id: text(step['id']) || String(index + 1),
      step_number: typeof step['step_number'] === 'number' ? step['step_number'] : index + 1,
      action: text(step['action']),
      reason: text(step['reason']),
      tools_needed: texts(step['tools_needed']),
      files: texts(step['files']),
      depends_on: texts(step['depends_on']),
      estimated_time: text(step['estimated_time']),
      status: (text(step['status']) || 'pending') as StepStatus,
      expects: expectationsOf(step['expects']),
      role: (text(step['role']) || null) as PlanStep['role'],
      agent: text(step['agent']),
      rounds: typeof step['rounds'] === 'number' ? step['rounds'] : 0
    })),
    estimated_total_time: text(data['estimated_total_time']),
    risks: texts(data['risks']),
    prerequisites: texts(data['prerequisites']),
    assumptions: assumptionsOf(data['assumptions']),
    ...(typeof data['steps_left_out'] === 'number'
      ? { steps_left_out: data['steps_left_out'] }
      : {})
  };
}

export function permissionOf(data: Record<string, unknown>): PermissionRequest {
  const shown = data['shown'];
  return {
    id: text(data['id']),
    job_id: text(data['job_id']) || null,
    task_id: text(data['task_id']) || null,
    agent_role: text(data['agent_role']) || null,
    tool: text(data['tool']),
    parameters: isRecord(data['parameters']) ? data['parameters'] : {},
    resource: text(data['resource']),
    risk: text(data['risk']),
    why: texts(data['why']),
    scopes: texts(data['scopes']) as Scope[],
    rules: texts(data['rules']),
    uncovered: texts(data['uncovered']),
    ...(isRecord(shown)
      ? {
          shown: {
            kind: text(shown['kind']),
            text: text(shown['text']),
            complete: shown['complete'] !== false
          }
        }
      : {})
  };
}

export function reproductionOf(data: Record<string, unknown>): Reproduction {
  const { runs, failed, hidden } = data;
  return {
    runs: typeof runs === 'boolean' ? runs : null,
    failed: isRecord(failed)
      ? {
          cell: number(failed['cell']),
          line: number(failed['line']) || null,
          error: text(failed['error'])
        }
      : null,
    cells: number(data['cells']),
    ran: number(data['ran']),
    hidden: (Array.isArray(hidden) ? hidden.filter(isRecord) : []).map(one => ({
      cell: number(one['cell']),
      message: text(one['message'])
    })),
    broken: records(data['broken']) as Reproduction['broken'],
    expectations: number(data['expectations']),
    left_out: number(data['left_out']),
    seconds: number(data['seconds']),
    notebook: text(data['notebook']),
    job_id: text(data['job_id']) || null
  };
}

/** `cost` is missing if no price is known. */
export function usageOf(data: unknown): Usage {
  const fields = isRecord(data) ? data : {};
  const number = (key: string): number => (typeof fields[key] === 'number' ? fields[key] : 0);
  return {
    prompt_tokens: number('prompt_tokens'),
    completion_tokens: number('completion_tokens'),
    total_tokens: number('total_tokens'),
    ...(number('cost') > 0 ? { cost: number('cost'), currency: text(fields['currency']) } : {})
  };
}

export function addedUsage(one: Usage, other: Usage): Usage {
  const cost = (one.cost ?? 0) + (other.cost ?? 0);
  return {
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    total_tokens: one.total_tokens + other.total_tokens,
    ...(cost > 0 ? { cost, currency: other.currency || one.currency || '' } : {})
  };
}

export function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
