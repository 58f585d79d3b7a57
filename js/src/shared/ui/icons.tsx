/** Line icons on a 16 × 16 grid, in the text colour. */

import type { ComponentChildren, VNode } from 'preact';

/** Paths, or more than that. */
const DRAWINGS: Record<string, string | (() => ComponentChildren)> = {
  search: () => (
    <>
      <circle cx="6.75" cy="6.75" r="4.5" />
      <path d="m10.25 10.25 4 4" />
    </>
  ),
  bolt: () => (
    <path d="M9.25 1.5 3 9.25h4.25L6.5 14.5 13 6.5H8.5z" fill="currentColor" stroke-width="1" />
  ),
  compass: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="m10.75 5.25-1.6 3.9-3.9 1.6 1.6-3.9z" fill="currentColor" stroke-width="1" />
    </>
  ),
  pencil: 'm2.5 13.5.75-3.25 7.5-7.5 2.5 2.5-7.5 7.5zM9 4.5 11.5 7',
  eye: () => (
    <>
      <path d="M1.25 8C3 5 5.25 3.5 8 3.5S13 5 14.75 8C13 11 10.75 12.5 8 12.5S3 11 1.25 8z" />
      <circle cx="8" cy="8" r="2" fill="currentColor" stroke="none" />
    </>
  ),
  flask: () => (
    <>
      <path d="M6.5 1.75v4.5l-4 7.25c-.2.4 0 .75.5.75h10c.5 0 .7-.35.5-.75l-4-7.25v-4.5" />
      <path d="M5.5 1.75h5M4.75 10h6.5" />
    </>
  ),
  person: () => (
    <>
      <circle cx="8" cy="5" r="2.75" />
      <path d="M2.75 14c.25-3 2.25-4.75 5.25-4.75S13 11 13.25 14" />
    </>
  ),
  book: 'M2.75 14V3.5C2.75 2.5 3.5 2 4.5 2h8.75v9.5H4.5c-1 0-1.75.5-1.75 2.5h10.5',
  chart: 'M2 2v12h12M5.5 11V8M9 11V4.5M12.5 11V6.5',
  gear: () => (
    <>
      <circle cx="8" cy="8" r="3.25" />
      <path d="M8 1.5v3m0 7v3M1.5 8h3m7 0h3M3.5 3.5l2 2m5 5 2 2m0-9-2 2m-5 5-2 2" />
    </>
  ),
  shield: 'M8 1.75 13.25 4v4c0 3-2 5-5.25 6.25C4.75 13 2.75 11 2.75 8V4z',
  table: 'M2 3h12v10H2zM2 6.5h12M7 3v10',
  check: 'm2.75 8.5 3.5 3.5 7-8',
  caret: 'm4 6.25 4 4 4-4',
  alert: 'M8 2 1.5 13.5h13zM8 6.5v3.25M8 11.6v.4',
  cross: 'm3.5 3.5 9 9M12.5 3.5l-9 9',
  minus: 'M3 8h10',
  plus: 'M3 8h10M8 3v10',
  question: () => (
    <>
      <path d="M5.25 5.5c0-1.75 1.2-2.75 2.75-2.75s2.75 1 2.75 2.5c0 2-2.75 2.25-2.75 4.25" />
      <path d="M8 12.75v.4" />
    </>
  ),
  pause: 'M5 3.5v9M11 3.5v9',
  up: 'm3.5 9.75 4.5-4.5 4.5 4.5',
  grip: () => (
    <path d="M6 4h.01M6 8h.01M6 12h.01M10 4h.01M10 8h.01M10 12h.01" stroke-width="2.25" />
  ),
  stop: () => <path d="M4 4h8v8H4z" fill="currentColor" />,
  undo: 'M3 6.5h6.5a3.75 3.75 0 0 1 0 7.5H6M6 3 2.5 6.5 6 10',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1'
};

/** Decorative: hidden from screen readers, as the text next to it has the meaning. */
export function Icon({ name }: { name: string }): VNode {
  const drawing = DRAWINGS[name] ?? DRAWINGS['person'];
  return (
    <svg
      class="cw-icon"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {typeof drawing === 'function' ? drawing() : <path d={drawing} />}
    </svg>
  );
}
