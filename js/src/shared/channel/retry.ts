/** Tries again by itself, after pauses that grow. */
export class Retry {
  private attempts = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Once more, later; instead of what was waiting. */
  later(work: () => void): void {
    this.cancel();
    this.timer = setTimeout(work, pauseBefore(this.attempts++));
  }

  /** It has worked: the next time is the first again. */
  succeeded(): void {
    this.attempts = 0;
  }

  cancel(): void {
    clearTimeout(this.timer);
  }
}

/** Soon at first, later now and then, never all cards at once. */
function pauseBefore(attempt: number): number {
  return Math.min(15_000, 500 * 2 ** Math.min(attempt, 10)) * (0.75 + Math.random() / 2);
}
