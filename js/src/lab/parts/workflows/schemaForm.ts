/** Maps workflow JSON schemas to form fields, and user input back to parameters. */

import { isRecord } from '../../../shared/channel/channel';

export type FieldKind = 'text' | 'number' | 'boolean' | 'choice' | 'lines' | 'json';

export interface Field {
  name: string;
  title: string;
  description: string;
  kind: FieldKind;
  choices: readonly string[];
  isRequired: boolean;
  initial: string | boolean;
  /** `path`, `notebook-path`, …; for lists, the format of each line. */
  format: string;
}

export type Values = Readonly<Record<string, string | boolean>>;

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Notebook fields are prefilled with the current notebook. */
export function fieldsOf(schema: Record<string, unknown>, notebook: string | null): Field[] {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, given]) => {
    const own = plain(isRecord(given) ? given : {}, schema);
    const kind = kindOf(own);
    const format = text(
      (kind === 'lines' && isRecord(own['items']) ? own['items'] : own)['format']
    );
    const standard =
      format === 'notebook-path' && notebook !== null ? notebook : initialOf(kind, own['default']);
    return {
      ...{
        name,
        kind,
        format,
        title: text(own['title']) || name,
        description: text(own['description'])
      },
      choices: choicesOf(own),
      isRequired: required.includes(name),
      initial: standard
    };
  });
}

/** Resolves a reference, and unwraps nullable types. */
function plain(
  own: Record<string, unknown>,
  schema: Record<string, unknown>
): Record<string, unknown> {
  const reference = /^#\/\$defs\/(.+)$/.exec(text(own['$ref']))?.[1];
  const definitions = schema['$defs'];
  if (reference !== undefined && isRecord(definitions) && isRecord(definitions[reference])) {
    return { ...definitions[reference], ...own };
  }
  const either = Array.isArray(own['anyOf'])
    ? own['anyOf'].filter(isRecord).filter(one => one['type'] !== 'null')
    : [];
  return either.length === 1 && either[0] ? { ...plain(either[0], schema), ...own } : own;
}

function choicesOf(own: Record<string, unknown>): string[] {
  const values = Array.isArray(own['enum']) ? own['enum'] : 'const' in own ? [own['const']] : [];
  return values.filter(one => typeof one === 'string');
}

function kindOf(own: Record<string, unknown>): FieldKind {
  if (choicesOf(own).length > 0) {
    return 'choice';
  }
  switch (own['type']) {
    case 'string':
      return 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return isRecord(own['items']) && own['items']['type'] === 'string' ? 'lines' : 'json';
    default:
      return 'json';
  }
}

function initialOf(kind: FieldKind, standard: unknown): string | boolean {
  if (kind === 'boolean') {
    return standard === true;
  }
  if (standard === undefined || standard === null) {
    return '';
  }
  if (kind === 'lines') {
    return Array.isArray(standard) ? standard.join('\n') : '';
  }
  return typeof standard === 'string' ? standard : JSON.stringify(standard);
}

export function initialValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));
}

/** Leaves empty fields out, so that the workflow's defaults apply. */
export function parametersOf(fields: readonly Field[], values: Values): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const field of fields) {
    const value = parameterOf(field, values[field.name] ?? '');
    if (value !== undefined) {
      given[field.name] = value;
    }
  }
  return given;
}

function parameterOf({ kind }: Field, value: string | boolean): unknown {
  if (typeof value === 'boolean') {
    return value;
  }
  const written = value.trim();
  if (written === '') {
    return undefined;
  }
  switch (kind) {
    case 'number':
      return Number.isFinite(Number(written)) ? Number(written) : written;
    case 'lines':
      return written
        .split('\n')
        .map(line => line.trim())
        .filter(Boolean);
    case 'json':
      return parsed(written);
    default:
      return written;
  }
}

/** Invalid JSON is sent as text: the server explains what is wrong. */
function parsed(written: string): unknown {
  try {
    return JSON.parse(written) as unknown;
  } catch {
    return written;
  }
}

/** Whether a file dialog can fill the field. */
export function takesFiles({ kind, format }: Field): boolean {
  return (kind === 'text' || kind === 'lines') && /^(notebook-)?path$/.test(format);
}

/** Adds picked paths to a list, or replaces a single path. */
export function withPicked({ kind }: Field, value: string, paths: readonly string[]): string {
  if (kind !== 'lines') {
    return paths[0] ?? value;
  }
  const lines = value.split('\n').filter(line => line.trim());
  return [...lines, ...paths.filter(path => !lines.includes(path))].join('\n');
}

export function isComplete(fields: readonly Field[], values: Values): boolean {
  return fields.every(
    ({ name, isRequired }) =>
      !isRequired || values[name] === false || Boolean(String(values[name] ?? '').trim())
  );
}
