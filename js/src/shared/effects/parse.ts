/**
 * Parses effects, expectations, figures and assumptions of saved cards. Notebooks are untrusted, so
 * everything is validated here.
 */

import { isRecord } from '../channel/channel';
import type {
  Assumption,
  DataEffect,
  DataWarning,
  Expectation,
  FieldState,
  Figure,
  TableState
} from '../types';

type Raw = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number => (typeof value === 'number' ? value : 0);
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(text) : []);
const records = (value: unknown): Raw[] => (Array.isArray(value) ? value.filter(isRecord) : []);

export function effectsOf(value: unknown): DataEffect[] {
  return records(value).map(raw => ({
    of: text(raw['of']),
    task_id: text(raw['task_id']) || null,
    call_id: text(raw['call_id']) || null,
    cell_id: text(raw['cell_id']) || null,
    line: text(raw['line']),
    sampled: raw['sampled'] === true,
    before: tableOf(raw['before']),
    after: tableOf(raw['after']),
    warnings: records(raw['warnings']).map(warningOf)
  }));
}

function warningOf(raw: Raw): DataWarning {
  return {
    code: text(raw['code']),
    message: text(raw['message']),
    line: typeof raw['line'] === 'number' ? raw['line'] : null,
    evidence: {},
    advice: text(raw['advice'])
  };
}

function tableOf(value: unknown): TableState | null {
  if (!isRecord(value)) {
    return null;
  }
  return {
    rows: count(value['rows']),
    columns: count(value['columns']),
    kind: text(value['kind']),
    fields: records(value['fields']).map(fieldOf),
    duplicates: typeof value['duplicates'] === 'number' ? value['duplicates'] : null,
    sampled: value['sampled'] === true
  };
}

function fieldOf(raw: Raw): FieldState {
  const plain = (value: unknown): string | number | null =>
    typeof value === 'string' || typeof value === 'number' ? value : null;
  return {
    name: text(raw['name']),
    type: text(raw['type']),
    missing: count(raw['missing']),
    distinct: typeof raw['distinct'] === 'number' ? raw['distinct'] : null,
    low: plain(raw['low']),
    high: plain(raw['high']),
    total: typeof raw['total'] === 'number' ? raw['total'] : null,
    values: texts(raw['values']),
    zone: text(raw['zone']) || null
  };
}

export function expectationsOf(value: unknown): Expectation[] {
  return records(value).filter(isExpectation);
}

function isExpectation(raw: Raw): raw is Raw & Expectation {
  return ['id', 'of', 'check', 'op'].every(name => typeof raw[name] === 'string');
}

export function figuresOf(value: unknown): Figure[] {
  return records(value)
    .filter(raw => text(raw['text']) !== '')
    .map(raw => ({
      text: text(raw['text']),
      value: count(raw['value']),
      source: isRecord(raw['source'])
        ? {
            cell_id: text(raw['source']['cell_id']) || null,
            call_id: text(raw['source']['call_id']) || null,
            stale: raw['source']['stale'] === true
          }
        : null
    }));
}

export function assumptionsOf(value: unknown): Assumption[] {
  return records(value).map(raw => ({
    text: text(raw['text']),
    status: raw['status'] === 'confirmed' || raw['status'] === 'corrected' ? raw['status'] : 'open',
    correction: text(raw['correction']),
    alternatives: texts(raw['alternatives'])
  }));
}
