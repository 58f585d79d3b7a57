/** All visible text goes through here, so that a host can translate it. */

/** The part of JupyterLab's translation bundles that is used here. */
export interface Translation {
  __(text: string, ...values: string[]): string;
  /** `%1` is the count; the values start at `%2`. */
  _n(one: string, many: string, count: number, ...values: string[]): string;
}

function fillIn(text: string, ...values: string[]): string {
  return text.replace(
    /%(\d)/g,
    (placeholder, digit: string) => values[Number(digit) - 1] ?? placeholder
  );
}

const ENGLISH: Translation = {
  __: fillIn,
  _n: (one, many, count, ...values) => fillIn(count === 1 ? one : many, String(count), ...values)
};

// Stored on the page: widget scripts have no catalogue and use the language chosen by Lab.
const CHOSEN = Symbol.for('cowork-jupyter:translation:1');
const page = window as { [CHOSEN]?: Translation | null };

/** Sets the host's translation bundle; null resets to English. */
export function setTranslation(host: Translation | null): void {
  page[CHOSEN] = host;
}

function chosen(): Translation {
  return page[CHOSEN] ?? ENGLISH;
}

/**
 * Translates, replacing `%1`, `%2`, … with the values. Pass a literal percent sign (`%%plan`) as a
 * value, since gettext would halve it. Call it while rendering, never at module level: the host
 * sets its language after loading us.
 */
export function t(text: string, ...values: string[]): string {
  return chosen().__(text, ...values);
}

/** Singular or plural; `%1` is the count. */
export function counted(count: number, one: string, many: string, ...values: string[]): string {
  return chosen()._n(one, many, count, ...values);
}

/** Marks a text in a table for the catalogue; `translateKnown` translates it later. */
export function msg(text: string): string {
  return text;
}

/**
 * Translates a text from a table, or a fixed sentence of the server. Any other text is returned
 * unchanged, whatever gettext would do with `%1`, control characters or a key like `constructor`.
 */
export function translateKnown(text: string): string {
  return /^(?=[A-Z]|.* )[^%\p{Cc}]*$/u.test(text) ? t(text) : text;
}
