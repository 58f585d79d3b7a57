/** What the server asks this page about its notebooks, and how long answers travel. */

/** The server takes no messages of any length. */
const PART = 500_000;

export interface Question {
  id: number;
  op: string;
  path: string;
}

export type Answer = { ok: true } | { ok: false; code: string; message?: string };

/** The frames that bring an answer. A character is never cut in two: halves are not text. */
export function inParts(question: number, answer: Answer): object[] {
  const text = JSON.stringify(answer);
  const frames: object[] = [];
  let start = 0;
  while (start < text.length) {
    const cut = start + PART;
    const end = isFirstHalf(text.charCodeAt(cut - 1)) ? cut + 1 : cut;
    frames.push({
      type: 'answer',
      question,
      part: text.slice(start, end),
      last: end >= text.length
    });
    start = end;
  }
  return frames;
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
