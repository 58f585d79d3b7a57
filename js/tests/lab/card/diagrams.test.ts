import { describe, expect, it } from 'vitest';

import { canBeDrawn, withSafeDiagrams } from '../../../src/lab/card/diagrams';

describe('what agents draw in real life', () => {
  it.each([
    'flowchart LR\n  A[Load sales.csv] -->|clean| B{Any gaps?}\n' +
      '  A & B --> C\n  style A fill:#f9f,stroke:#333;\n' +
      '  classDef hot fill:#333333;\n  style B fill:#000;',
    'graph TD;\n  A["two<br/>lines"] --> B(Import data);\n  B --> C[Process image]',
    'sequenceDiagram\n  Alice->>Bob: How many rows?\n  Bob-->>Alice: 324',
    'classDiagram\n  class Table {\n    <<interface>>\n    +rows() int\n  }\n  Animal <|-- Duck',
    'erDiagram\n  ORDER ||--o{ LINE : contains',
    'stateDiagram-v2\n  [*] --> Planned\n  Planned --> [*]',
    'gantt\n  title A plan\n  section One\n  Clean :a1, 2026-01-01, 3d',
    'pie title Regions\n  "North" : 40\n  "South" : 60',
    'mindmap\n  root((data))\n    sales'
  ])('is drawn: %s', diagram => {
    expect(canBeDrawn(diagram)).toBe(true);
  });
});

describe('what could make a request', () => {
  it.each([
    'flowchart LR\n A["<img src=\'http://x\'>"]',
    'flowchart LR\n A["&lt;img src=x&gt;"]',
    'flowchart LR\n A["#60;b onload=x#62;"]',
    'flowchart LR\n A["#060;b onload=x#062;"]',
    'flowchart LR\n A["#000060;b"]',
    'flowchart LR\n A["#lt;b"]',
    'flowchart LR\n A@{ img: "http://x" }',
    'flowchart LR\n A@\n{ shape: rect }',
    'flowchart LR\n A\n style A fill:url(//x)',
    'flowchart LR\n classDef a background:u\\72l(x)',
    '%%{init: {"themeCSS": "a{}"}}%%\nflowchart LR\n A',
    '---\nconfig:\n  theme: dark\n---\nflowchart LR\n A',
    'C4Context\n Person(a, "A", $sprite="x")',
    'flowchart LR\n A["$$\\includegraphics{x}$$"]',
    'classDiagram\n class A { <<<img x>> }',
    'flowchart LR\n A["`![a](http://x)`"]'
  ])('is not drawn: %s', diagram => {
    expect(canBeDrawn(diagram)).toBe(false);
  });
});

const HOSTILE = 'flowchart LR\nA["<img src=x>"]';

describe('diagrams in Markdown', () => {
  it('stay as they are when they are harmless, whatever stands around them', () => {
    const text =
      'See <b>this</b>:\n```mermaid\nflowchart LR\n A --> B\n```\nMore at https://example.org';
    expect(withSafeDiagrams(text)).toBe(text);
  });

  it.each([
    ['a fence', `\`\`\`mermaid\n${HOSTILE}\n\`\`\``],
    ['tildes', `~~~ mermaid\n${HOSTILE}\n~~~`],
    ['a quotation', `> \`\`\`mermaid\n> flowchart LR\n> A["<img src=x>"]\n> \`\`\``],
    ['a list', `- \`\`\`mermaid\n  flowchart LR\n  A["<img src=x>"]\n  \`\`\``],
    ['old line ends', `\`\`\`mermaid\r${HOSTILE.replace('\n', '\r')}\r\`\`\``],
    ['no end', `\`\`\`mermaid\n${HOSTILE}`],
    ['an end that is none', `\`\`\`mermaid\nflowchart LR\n    \`\`\`\n A["<img src=x>"]\n\`\`\``],
    [
      'an end in the middle of a line',
      `\`\`\`\`mermaid\nflowchart LR\n %% \`\`\`\`\n A["<img src=x>"]\n\`\`\`\``
    ]
  ])('become a text when they are not: %s', (_what, text) => {
    expect(withSafeDiagrams(text)).not.toContain('mermaid');
    expect(withSafeDiagrams(text)).toContain('<img src=x>');
  });
});
