import type { ComponentChildren } from 'preact';

/** Marks up only code, for text in buttons: a link there could not be followed. */
export function codeSpans(text: string): ComponentChildren[] {
  const parts = text.split(/`([^`\n]{1,1000})`/);
  return parts.map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part));
}
