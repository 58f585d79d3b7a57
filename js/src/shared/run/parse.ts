/** Parses wire data defensively: missing or mistyped values become harmless defaults. */

import { assumptionsOf, expectationsOf } from '../effects/parse';
import { isRecord } from '../channel/channel';
import { number, numberOrNull, records, text, texts } from '../channel/values';
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

export function questionOf(data: Record<string, unknown>): Question {
  const options = records(data['options']);
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
  const findings = records(data['findings']);
  return {
    summary: text(data['summary']),
    verdict: text(data['verdict']),
    findings: findings.map(one => ({
      file: text(one['file']),
      line: numberOrNull(one['line']),
      severity: text(one['severity']) || 'minor',
      comment: text(one['comment']),
      suggestion: text(one['suggestion'])
    }))
  };
}

export function planOf(data: Record<string, unknown>): Plan {
  const steps = records(data['steps']);
  return {
    type: 'plan',
    id: text(data['id']),
    format_version: text(data['format_version']) || '1.0',
    goal: text(data['goal']),
    steps: steps.map((step, index) => ({
      id: text(step['id']) || String(index + 1),
      step_number: numberOrNull(step['step_number']) ?? index + 1,
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
      rounds: number(step['rounds'])
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
    hidden: records(hidden).map(one => ({
      cell: number(one['cell']),
      message: text(one['message'])
    })),
    broken: records(data['broken']) as unknown as Reproduction['broken'],
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
  const cost = number(fields['cost']);
  return {
    prompt_tokens: number(fields['prompt_tokens']),
    completion_tokens: number(fields['completion_tokens']),
    total_tokens: number(fields['total_tokens']),
    ...(cost > 0 ? { cost, currency: text(fields['currency']) } : {})
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
