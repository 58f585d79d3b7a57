/** What is being typed that can be completed. */

export interface Typed {
  /** With its `@` or `/`. */
  text: string;
  /** Where it begins. */
  start: number;
}

/** As the server reads them; the last part may still be open. */
const MENTION = /(?<![\w.@/+-])@(?:"[^"\n]*|[^\W\d]\w*\."[^"\n]*|[^\s"'`,;()[\]{}<>|*?\\]*)$/u;
const COMMAND = /^\/[\w:./-]*$/u;

/** The mention or command that ends at the cursor; a command is the first thing that is said. */
export function typedAt(text: string, cursor: number): Typed | null {
  const before = text.slice(0, cursor);
  const match = MENTION.exec(before.slice(-500)) ?? COMMAND.exec(before);
  return match && { text: match[0], start: cursor - match[0].length };
}

/** Whether a text may point at something. */
export function mayMention(text: string): boolean {
  return /(?<![\w.@/+-])@["\w./~]/u.test(text);
}
