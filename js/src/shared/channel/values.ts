/** Reads wire data defensively: missing or mistyped values become harmless defaults. */

import { isRecord } from './channel';

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : [];
}

export function number(value: unknown): number {
  return numberOrNull(value) ?? 0;
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
