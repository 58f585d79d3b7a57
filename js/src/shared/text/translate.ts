/** The one way to text on the screen, so that a host can translate all of it. */

/** What JupyterLab's translation bundles offer, as far as it is used here. */
export interface Translation {
  __(text: string, ...values: string[]): string;
  /** The count is `%1` of itself; the values begin with `%2`. */
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

// Kept at the page: the scripts of widgets speak the language that Lab has chosen, and carry none.
const CHOSEN = Symbol.for('cowork-jupyter:translation:1');
const page = window as { [CHOSEN]?: Translation | null };

/** Lets the host (Lab's translation bundle) take over; null goes back to English. */
export function setTranslation(host: Translation | null): void {
  page[CHOSEN] = host;
}

function chosen(): Translation {
  return page[CHOSEN] ?? ENGLISH;
}

/**
 * Gives the text in the user's language, with `%1`, `%2`, … replaced by the values. A literal
 * percent sign (`%%plan`) goes in as a value: gettext would halve it in the text.
 * Call it while rendering, never at module level: the host sets its language after loading us.
 */
export function t(text: string, ...values: string[]): string {
  return chosen().__(text, ...values);
}

/** How many, in the singular or the plural; `%1` is the number. */
export function counted(count: number, one: string, many: string, ...values: string[]): string {
  return chosen()._n(one, many, count, ...values);
}

/** Marks a text for the catalogue where it stands in a table; `said` translates it later. */
export function msg(text: string): string {
  return text;
}

/**
 * Translates a text that is not written here: one of a table, or a fixed sentence of the server's.
 * Any other stays as it is, whatever gettext would make of its signs (`%1`, control characters) or
 * of a word that every object knows (`constructor`).
 */
export function said(text: string): string {
  return /^(?=[A-Z]|.* )[^%\p{Cc}]*$/u.test(text) ? t(text) : text;
}
