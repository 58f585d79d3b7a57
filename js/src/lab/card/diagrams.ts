/**
 * Decides which of an agent's diagrams are drawn. Mermaid builds a diagram in the page itself: a
 * URL in a label, style or setting is requested before any sanitiser sees it, and could leak what
 * the agent has read. So a diagram is drawn only if its source cannot name a URL; otherwise its
 * source is shown. This refuses slightly more than Mermaid is known to obey.
 */

const OPENING = /(`{3,}|~{3,})[^\n]*mermaid/i;

const BEYOND_DRAWING: readonly RegExp[] = [
  /<(?!br ?\/?>)[a-z/!?]/i, // tags, other than line breaks
  /&(#|\w+;)|#(?![1-9]\d\d(\d{3})?;|0{3}(0{3})?;)\d+;|#[lg]t;/i, // other ways to write a tag's bracket
  /@\s*\{|%%\s*\{|^\s*---\s*$/m, // pictures as shapes, and settings, which may hold styles
  /url\s*\(|image(-set)?\s*\(|@import|\b(src|img)\b|sprite/i, // what takes an address
  /\/\/|\\|\$\$/ // an address, and what could hide one
];

/** A class stereotype only looks like a tag. */
const STEREOTYPE = /<<\w+>>/g;

export function canBeDrawn(diagram: string): boolean {
  const source = diagram.replace(STEREOTYPE, '');
  return !BEYOND_DRAWING.some(pattern => pattern.test(source));
}

/** Turns unsafe diagrams into plain code blocks. */
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
 * Reads up to the fence that certainly ends the block, in whatever list or quote; rather too much
 * than too little.
 */
function bodyOf(lines: readonly string[], mark: string): string {
  const closing = new RegExp(`^ {0,3}${mark}[\`~]* *$`);
  const end = lines.findIndex(line => closing.test(line));
  return (end < 0 ? lines : lines.slice(0, end)).join('\n');
}
