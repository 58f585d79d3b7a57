/** Makes untrusted text (of models, files, commands) safe to display. */

// Invisible characters that change what is seen: controls (except tab and line feed), zero-width
// characters, bidirectional overrides, tags, and the byte-order mark.
const UNSEEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- meant
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

const JOINER = '\u200d';
/** A joiner between emoji is legitimate. */
// eslint-disable-next-line no-misleading-character-class -- a skin colour follows the emoji
const EMOJI_BEFORE = /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?$/u;

function sign(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** Replaces invisible and direction-changing characters with visible signs. */
export function visible(text: string): string {
  const lines = text.replace(/\r\n/g, '\n');
  return lines.replace(UNSEEN, (character, place: number) =>
    character === JOINER && EMOJI_BEFORE.test(lines.slice(Math.max(0, place - 4), place))
      ? character
      : sign(character)
  );
}

/** Truncates to `most` characters and marks the cut; never splits a surrogate pair. */
export function bounded(text: string, most: number): string {
  if (text.length <= most) {
    return text;
  }
  const end = most - 1;
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return `${text.slice(0, splitsPair ? end - 1 : end)}…`;
}

/** Single line, truncated, without invisible characters. */
export function oneLine(text: string, most = 200): string {
  return bounded(
    visible(
      bounded(text, most * 4)
        .replace(/\s+/g, ' ')
        .trim()
    ),
    most
  );
}
