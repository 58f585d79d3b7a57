/**
 * Truncates outputs before they are sent: a cell may hold a hundred megabytes, and the page must
 * stay responsive. Python does the same for files (`tools/notebook/outputs.py`), and formats both
 * for the model.
 */

type Output = Readonly<Record<string, unknown>>;

/** Characters kept of each text. */
const MAX_LENGTH = 20_000;
/** Base64 characters kept of images: enough to tell their size. */
const HEAD = 4096;
/** Base64 characters up to which an image is sent whole, if images are wanted. */
const MAX_PICTURE_SIZE = 700_000;
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export function shortened(output: Output, withPictures = false): Output {
  const kind = output['output_type'];
  if (kind === 'stream') {
    return { output_type: kind, name: output['name'], text: cut(asText(output['text'])) };
  }
  if (kind === 'error') {
    const lines = Array.isArray(output['traceback']) ? output['traceback'].map(String) : [];
    const fact = (name: string): string => String(output[name] ?? '').slice(0, MAX_LENGTH);
    return {
      output_type: kind,
      ename: fact('ename'),
      evalue: fact('evalue'),
      traceback: [cut(lines.join('\n'))]
    };
  }
  const data = Object.entries((output['data'] ?? {}) as Record<string, unknown>);
  const short = data.map(([mime, value]) => [mime, shortData(mime, value, withPictures)]);
  return { output_type: kind, data: Object.fromEntries(short) };
}

function shortData(mime: string, value: unknown, withPictures: boolean): unknown {
  const isString = typeof value === 'string' || Array.isArray(value);
  if (isString && !isText(mime)) {
    const text = asText(value);
    const isWhole = withPictures && PICTURES.includes(mime) && text.length <= MAX_PICTURE_SIZE;
    return isWhole ? text : { length: text.length, head: text.slice(0, HEAD) };
  }
  return cut(isString ? asText(value) : JSON.stringify(value));
}

function isText(mime: string): boolean {
  return /^text\/|(?:json|xml|javascript)$/.test(mime);
}

function asText(value: unknown): string {
  return Array.isArray(value) ? value.join('') : typeof value === 'string' ? value : '';
}

function cut(text: string): string {
  if (text.length <= MAX_LENGTH) {
    return text;
  }
  const half = MAX_LENGTH / 2;
  const missing = (text.length - MAX_LENGTH).toLocaleString('en-US');
  return `${text.slice(0, half)}\n[… ${missing} characters left out …]\n${text.slice(-half)}`;
}
