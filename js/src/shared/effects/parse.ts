/**
 * Parses effects, expectations, figures and assumptions of saved cards. Notebooks are untrusted, so
 * everything is validated here.
 */

import { isRecord } from '../channel/channel';
import { number, numberOrNull, records, text, texts } from '../channel/values';
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
    line: numberOrNull(raw['line']),
    evidence: {},
    advice: text(raw['advice'])
  };
}

function tableOf(value: unknown): TableState | null {
  if (!isRecord(value)) {
    return null;
  }
  return {
    rows: number(value['rows']),
    columns: number(value['columns']),
    kind: text(value['kind']),
    fields: records(value['fields']).map(fieldOf),
    duplicates: numberOrNull(value['duplicates']),
    sampled: value['sampled'] === true
  };
}

function fieldOf(raw: Raw): FieldState {
  const plain = (value: unknown): string | number | null =>
    typeof value === 'string' || typeof value === 'number' ? value : null;
  return {
    name: text(raw['name']),
    type: text(raw['type']),
    missing: number(raw['missing']),
    distinct: numberOrNull(raw['distinct']),
    low: plain(raw['low']),
    high: plain(raw['high']),
    total: numberOrNull(raw['total']),
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
      value: number(raw['value']),
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
