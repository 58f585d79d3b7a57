/** Expectations that a table's current state suggests. */

import type { Expectation, NewExpectation, TableState } from '../types';
import { t } from '../text/translate';

const MAX_FIELDS = 8;

export function pinsFor(
  of: string,
  { rows, columns, fields, sampled }: TableState
): NewExpectation[] {
  const pin = (one: Omit<NewExpectation, 'of'>): NewExpectation => ({ of, ...one });
  const ofFields = sampled
    ? [] // a sample proves nothing about all rows
    : fields.flatMap(({ name, missing, distinct, low }) => [
        ...(distinct === rows && rows > 1 ? [pin({ check: 'unique', column: name })] : []),
        ...(missing === 0 && rows > 0 ? [pin({ check: 'no_missing', column: name })] : []),
        ...(typeof low === 'number' && low >= 0
          ? [pin({ check: 'range', column: name, op: '>=', value: 0 })]
          : [])
      ]);
  return [
    pin({ check: 'rows', op: '=', value: rows }),
    pin({ check: 'columns', op: '=', value: columns }),
    ...ofFields.slice(0, MAX_FIELDS)
  ];
}

const SIGNS: Record<string, string> = { '>=': '≥', '<=': '≤', '!=': '≠' };

export function describeExpectation({
  check,
  column,
  op,
  value,
  tolerance
}: NewExpectation): string {
  const name = column ?? '';
  const compared = `${SIGNS[op ?? '='] ?? op ?? '='} ${formatValue(value)}`;
  switch (check) {
    case 'rows':
      return t('rows %1', compared);
    case 'columns':
      return t('columns %1', compared);
    case 'unique':
      return t('%1 is unique', name);
    case 'no_missing':
      return t('no missing %1', name);
    case 'range':
      return Array.isArray(value)
        ? t('%1 from %2 to %3', name, formatValue(value[0]), formatValue(value[1]))
        : `${name} ${compared}`;
    case 'values':
      return t('%1 is one of %2', name, formatValue(value));
    case 'sum':
      return tolerance
        ? t('sum of %1 %2 within %3 %', name, compared, String(tolerance * 100))
        : t('sum of %1 %2', name, compared);
    case 'type':
      return t('%1 has type %2', name, formatValue(value));
    case 'matched':
      return t('every %1 is found in %2', name, formatValue(value));
    default:
      return check;
  }
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) {
    return value.map(formatValue).join(', ');
  }
  return typeof value === 'number' ? value.toLocaleString() : String(value ?? '');
}

export function isPinned(pin: NewExpectation, all: readonly Expectation[]): boolean {
  const same = describeExpectation(pin);
  return all.some(one => one.of === pin.of && describeExpectation(one) === same);
}
