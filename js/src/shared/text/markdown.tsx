/**
 * Renders a subset of Markdown to elements, never to HTML; the rest stays text. Images are not
 * loaded, because a model could leak what it has read through their address.
 */

import type { ComponentChildren, VNode } from 'preact';

import { CodeBlock } from './CodeBlock';
import { visible } from './visible';

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const TABLE_LINE = /^\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$/;

export function blocks(source: string): ComponentChildren[] {
  return new Reader(visible(source).split('\n')).read();
}

class Reader {
  private at = 0;

  constructor(private readonly lines: readonly string[]) {}

  read(): ComponentChildren[] {
    const found: ComponentChildren[] = [];
    while (this.at < this.lines.length) {
      if (this.line.trim() === '') {
        this.at += 1;
      } else {
        found.push(this.block());
      }
    }
    return found;
  }

  private get line(): string {
    return this.lines[this.at] ?? '';
  }

  private take(): string {
    return this.lines[this.at++] ?? '';
  }

  private block(): VNode {
    if (FENCE.test(this.line)) {
      return this.fence();
    }
    const heading = HEADING.exec(this.line);
    if (heading) {
      this.at += 1;
      // No heading inside a card may outrank the page's own.
      return <p class="cw-md-heading">{inline(heading[2] ?? '')}</p>;
    }
    if (RULE.test(this.line)) {
      this.at += 1;
      return <hr />;
    }
    if (QUOTE.test(this.line)) {
      return (
        <blockquote>
          {new Reader(
            this.takeWhile(line => QUOTE.test(line)).map(line => QUOTE.exec(line)?.[1] ?? '')
          ).read()}
        </blockquote>
      );
    }
    if (ITEM.test(this.line)) {
      return this.list();
    }
    return this.isTable() ? this.table() : <p>{inline(this.paragraph())}</p>;
  }

  private takeWhile(holds: (line: string) => boolean): string[] {
    const taken: string[] = [];
    while (this.at < this.lines.length && holds(this.line)) {
      taken.push(this.take());
    }
    return taken;
  }

  private fence(): VNode {
    const [, mark = '```', info = ''] = FENCE.exec(this.take()) ?? [];
    const code = this.takeWhile(
      line => !(line.trim().startsWith(mark) && line.trim().replaceAll(mark.charAt(0), '') === '')
    );
    this.at += 1;
    return <CodeBlock code={code.join('\n')} language={info.split(/\s/)[0] ?? ''} />;
  }

  private list(): VNode {
    const indent = ITEM.exec(this.line)?.[1]?.length ?? 0;
    const first = ITEM.exec(this.line)?.[2] ?? '-';
    const items: VNode[] = [];
    for (
      let item = ITEM.exec(this.line);
      item && (item[1]?.length ?? 0) === indent;
      item = ITEM.exec(this.line)
    ) {
      const words = item[3] ?? '';
      this.at += 1;
      const below = this.takeWhile(
        line => line.trim() !== '' && /^\s*/.exec(line)![0].length > indent
      );
      items.push(
        <li>
          {inline(words)}
          {new Reader(below.map(line => line.slice(indent + 2))).read()}
        </li>
      );
      if (this.line.trim() === '' && ITEM.test(this.lines[this.at + 1] ?? '')) {
        this.at += 1;
      }
    }
    return /\d/.test(first) ? <ol start={Number.parseInt(first)}>{items}</ol> : <ul>{items}</ul>;
  }

  private paragraph(): string {
    const starts = (line: string): boolean =>
      [FENCE, HEADING, QUOTE, ITEM, RULE].some(form => form.test(line));
    const [head, ...rest] = [
      this.take(),
      ...this.takeWhile(line => line.trim() !== '' && !starts(line))
    ];
    return [head, ...rest].join('\n');
  }

  private isTable(): boolean {
    return this.line.includes('|') && TABLE_LINE.test(this.lines[this.at + 1] ?? '');
  }

  private table(): VNode {
    const head = cells(this.take());
    this.at += 1;
    const rows = this.takeWhile(line => line.includes('|')).map(cells);
    return (
      <table>
        <thead>
          <tr>
            {head.map(cell => (
              <th scope="col">{inline(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr>
              {head.map((_, place) => (
                <td>{inline(row[place] ?? '')}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    );
  }
}

function cells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map(cell => cell.trim());
}

// Code first, since nothing inside it is markup; then links, bold, italics.
const INLINE =
  /(`{1,3})([^`\n]{1,1000})\1(?!`)|!?\[([^\]\n]{1,500})\]\((https?:\/\/[^\s)]{1,2000})\)|\*\*(\S(?:[^*\n]*\S)?)\*\*|(?<![\w*])[*_](\S(?:[^*_\n]*\S)?)[*_](?![\w*])/g;

export function inline(text: string): ComponentChildren[] {
  const found: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, label, address, bold, italic] = match;
    found.push(text.slice(end, match.index));
    end = match.index + whole.length;
    if (code !== undefined) {
      found.push(<code>{code.trim()}</code>);
    } else if (address !== undefined) {
      found.push(
        <a href={address} target="_blank" rel="noopener noreferrer" title={address}>
          {label}
        </a>
      );
    } else {
      found.push(
        bold !== undefined ? <strong>{inline(bold)}</strong> : <em>{inline(italic ?? '')}</em>
      );
    }
  }
  return [...found, text.slice(end)];
}
