/** The mention or command being typed. */

export interface TypedMention {
  /** Includes the `@` or `/`. */
  text: string;
  start: number;
}

/** The server's grammar, with an unfinished last part. */
const MENTION = /(?<![\w.@/+-])@(?:"[^"\n]*|[^\W\d]\w*\."[^"\n]*|[^\s"'`,;()[\]{}<>|*?\\]*)$/u;
const COMMAND = /^\/[\w:./-]*$/u;

/** The mention or command that ends at the cursor; a command must come first in the message. */
export function mentionAt(text: string, cursor: number): TypedMention | null {
  const before = text.slice(0, cursor);
  const match = MENTION.exec(before.slice(-500)) ?? COMMAND.exec(before);
  return match && { text: match[0], start: cursor - match[0].length };
}

/** Cheap pre-check before asking the server. */
export function mayMention(text: string): boolean {
  return /(?<![\w.@/+-])@["\w./~]/u.test(text);
}
