/** The one way to text on the screen, so that a host can translate all of it. */

/**
 * Gives the text in the user's language, with `%1`, `%2`, … replaced by the values.
 * A literal percent sign (`%%plan`) goes in as a value: gettext would halve it in the text.
 */
export type Translate = (text: string, ...values: string[]) => string;

function fillIn(text: string, ...values: string[]): string {
  return text.replace(
    /%(\d)/g,
    (placeholder, digit: string) => values[Number(digit) - 1] ?? placeholder
  );
}

let translate: Translate = fillIn;

/** Call it while rendering, never at module level: the host sets its language after loading us. */
export function t(text: string, ...values: string[]): string {
  return translate(text, ...values);
}

/** Lets the host (Lab's translation bundle) take over; null goes back to English. */
export function setTranslate(host: Translate | null): void {
  translate = host ?? fillIn;
}
