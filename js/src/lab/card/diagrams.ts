/**
 * Which diagrams of an agent are drawn.
 *
 * Mermaid builds a diagram in the page itself: an address in a label, a style or a setting is
 * called before any sanitiser sees it, and could carry off what the agent has read. So only a
 * source that cannot name one is drawn; of any other the source is shown. What is refused here is a
 * little more than what Mermaid is known to obey.
 */

const OPENING = /(`{3,}|~{3,})[^\n]*mermaid/i;

const BEYOND_DRAWING: readonly RegExp[] = [
  /<(?!br ?\/?>)[a-z/!?]/i, // tags, other than line breaks
  /&(#|\w+;)|#(?![1-9]\d\d(\d{3})?;|0{3}(0{3})?;)\d+;|#[lg]t;/i, // other ways to write a tag's bracket
  /@\s*\{|%%\s*\{|^\s*---\s*$/m, // pictures as shapes, and settings, which may hold styles
  /url\s*\(|image(-set)?\s*\(|@import|\b(src|img)\b|sprite/i, // what takes an address
  /\/\/|\\|\$\$/ // an address, and what could hide one
];

/** A class's stereotype, which only looks like a tag. */
const STEREOTYPE = /<<\w+>>/g;

export function canBeDrawn(diagram: string): boolean {
  const source = diagram.replace(STEREOTYPE, '');
  return !BEYOND_DRAWING.some(pattern => pattern.test(source));
}

/** The same Markdown, in which a diagram that must not be drawn is a text. */
export function withSafeDiagrams(markdown: string): string {
  const lines = markdown.split(/\r\n?|\n/);
  return lines
    .map((line, at) => {
      const mark = OPENING.exec(line)?.[1];
      return mark === undefined || canBeDrawn(bodyOf(lines.slice(at + 1), mark))
        ? line
        : line.replace(/mermaid/gi, 'text');
    })
    .join('\n');
}

/**
 * Up to the mark that surely ends it, in whatever list or quotation it stands; more is read rather
 * than less.
 */
function bodyOf(lines: readonly string[], mark: string): string {
  const closing = new RegExp(`^ {0,3}${mark}[\`~]* *$`);
  const end = lines.findIndex(line => closing.test(line));
  return (end < 0 ? lines : lines.slice(0, end)).join('\n');
}
