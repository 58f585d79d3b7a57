/** Markdown as text, for where it is not drawn: lists, notifications, screen readers. */

import { bounded, oneLine } from './visible';

const BEGINNINGS = /^ *(?:(?:\||```).*$|#+ )/gm;

/** Single line, without marks of headings and code; tables are left out. */
export function plainLine(text: string, most = 200): string {
  const start = bounded(text, most * 4).replace(BEGINNINGS, '');
  return oneLine(start.replace(/(`|\*\*)(\S.*?)\1/g, '$2'), most);
}
