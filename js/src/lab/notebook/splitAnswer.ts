/** Wire types of the server's questions about notebooks, and chunking of long answers. */

/** Chunk size: the server limits the size of messages. */
const PART = 500_000;

export interface Question {
  id: number;
  op: string;
  path: string;
}

export type Answer = { ok: true } | { ok: false; code: string; message?: string };

/** Splits an answer into frames, never inside a surrogate pair. */
export function splitAnswer(question: number, answer: Answer): object[] {
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
