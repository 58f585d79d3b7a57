/** Retries with exponential backoff. */
export class Retry {
  private attempts = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Replaces a pending retry. */
  later(work: () => void): void {
    this.cancel();
    this.timer = setTimeout(work, pauseBefore(this.attempts++));
  }

  /** Resets the backoff. */
  succeeded(): void {
    this.attempts = 0;
  }

  cancel(): void {
    clearTimeout(this.timer);
  }
}

/** Jitter keeps cards from retrying all at once. */
function pauseBefore(attempt: number): number {
  return Math.min(15_000, 500 * 2 ** Math.min(attempt, 10)) * (0.75 + Math.random() / 2);
}
