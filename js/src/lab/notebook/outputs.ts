/**
 * Outputs cut down to what can be carried around: a cell may have put out a hundred megabytes, and
 * this page must stay quick. The same is done in Python for files (`tools/notebook/outputs.py`);
 * what is said to the model is made there.
 */

type Output = Readonly<Record<string, unknown>>;

/** Characters that are kept of any one text. */
const MAX_LENGTH = 20_000;
/** Characters of base64 that are kept of pictures: enough to tell their size. */
const HEAD = 4096;
/**
 * Characters of base64 up to which a picture that a model can be shown stays whole, where pictures
 * are wanted.
 */
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

export function asText(value: unknown): string {
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
