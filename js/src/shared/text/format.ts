/** Formats times, tokens, sizes and money. */

import { t } from './translate';

/** `0:11`, `12:03`, `1:02:03`: elapsed time. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [
    Math.floor(whole / 3600),
    Math.floor(whole / 60) % 60,
    whole % 60
  ];
  const end = `${String(minutes).padStart(hours ? 2 : 1, '0')}:${String(rest).padStart(2, '0')}`;
  return hours ? `${hours}:${end}` : end;
}

/** `4.8 s`, `2 min 5 s`, `1 h 2 min`: a final duration. */
export function duration(seconds: number): string {
  if (seconds < 60) {
    const shown = seconds < 10 ? Math.floor(seconds * 10) / 10 : Math.floor(seconds);
    return t('%1 s', figure(shown, Number.isInteger(shown) ? 0 : 1));
  }
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? t('%1 min %2 s', String(minutes), String(Math.floor(seconds % 60)))
    : t('%1 h %2 min', String(Math.floor(minutes / 60)), String(minutes % 60));
}

/** `812 tokens`, `5.8k tokens`. */
export function tokens(count: number): string {
  const short =
    count < 1000
      ? String(count)
      : count < 100_000
        ? `${figure(count / 1000, 1)}k`
        : `${Math.round(count / 1000)}k`;
  return t('%1 tokens', short);
}

/** `9.5 tokens/s`, `120 tokens/s`. */
export function speed(rate: number): string {
  return t('%1 tokens/s', figure(rate, rate < 10 ? 1 : 0));
}

/** `812 kB`, `1.3 GB`. */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(
    units.length - 1,
    Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  );
  const value = bytes / 1000 ** power;
  return `${value < 10 && power > 0 ? figure(value, 1) : Math.round(value)} ${units[power]}`;
}

/** Shows fractions of a cent. The currency is configurable. */
export function money(amount: number, currency = 'USD'): string {
  const digits = amount >= 1 ? 2 : amount >= 0.01 ? 3 : 4;
  return /^[a-z]{3}$/i.test(currency)
    ? figure(amount, digits, { style: 'currency', currency })
    : `${figure(amount, digits)} ${currency}`;
}

/** Formats in the page's language, which Lab sets. */
function figure(value: number, digits: number, format?: Intl.NumberFormatOptions): string {
  return value.toLocaleString(document.documentElement.lang || 'en', {
    ...format,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits
  });
}

/** Null if a time is missing or invalid. */
export function secondsBetween(
  start: string | null | undefined,
  end: string | null | undefined
): number | null {
  const span = (Date.parse(end ?? '') - Date.parse(start ?? '')) / 1000;
  return Number.isFinite(span) ? Math.max(0, span) : null;
}

/** `14:02` today, else with the date. */
export function moment(iso: string, now: Date = new Date()): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) {
    return '';
  }
  const time: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
  const isThisYear = at.getFullYear() === now.getFullYear();
  const isToday = at.toDateString() === now.toDateString();
  // English Lab does not imply a 12- or 24-hour clock, so use the browser's locale.
  const { lang } = document.documentElement;
  const locale = /^(en|$)/.test(lang) ? [] : lang;
  return isToday
    ? at.toLocaleTimeString(locale, time)
    : at.toLocaleString(locale, {
        ...time,
        day: 'numeric',
        month: 'short',
        ...(isThisYear ? {} : { year: 'numeric' })
      });
}
