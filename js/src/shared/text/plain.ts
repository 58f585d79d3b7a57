/** Markdown as text, for where it is not drawn: lists, notifications, screen readers. */

import { bounded, oneLine } from './visible';

const ROWS_AND_FENCES = /^[ \t]*(?:\||`{3}|~{3}).*$/gm;
const HEADINGS = /^[ \t]*#{1,6}[ \t]+/gm;
const MARKED = /`([^`\n]{1,1000})`|\*\*(\S(?:[^*\n]{0,1000}\S)?)\*\*/g;

/** Single line, without marks; tables are left out. */
export function plainLine(text: string, most = 200): string {
  const start = bounded(text, most * 4)
    .replace(ROWS_AND_FENCES, '')
    .replace(HEADINGS, '');
  return oneLine(
    start.replace(MARKED, (_, code?: string, bold?: string) => code ?? bold ?? ''),
    most
  );
}
