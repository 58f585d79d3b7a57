/** When a notebook's cells ran and were edited, as seen by this page. */

export interface SeenCell {
  id: string;
  source: string;
  execution_count: number | null;
}

/** As sent to the server; times are ticks of one clock. */
export interface CellTimes {
  id: string;
  source: string;
  /** Null if it did not run in this kernel. */
  ran: number | null;
  /** When its result last changed: it ran, or was edited afterwards. */
  changed: number | null;
}

interface Run {
  session: number;
  at: number;
  source: string;
  editedAt: number | null;
}

export class RunLog {
  private readonly runs = new Map<string, Run>();
  private readonly scheduled = new Map<string, string>();
  private session = 0;
  private clock = 0;
  private highest = 0;

  /** Initial state from the notebook. */
  begin(cells: readonly SeenCell[]): void {
    const ran = cells.filter(cell => cell.execution_count !== null);
    ran.sort((one, other) => one.execution_count! - other.execution_count!);
    ran.forEach(cell => this.note(cell.id, cell.execution_count!, cell.source));
  }

  /** Records the source at execution: the cell may be edited before it finishes. */
  schedule(id: string, source: string): void {
    this.scheduled.set(id, source);
  }

  /** Execution counts increase: a lower one belongs to another kernel. */
  ran(id: string, count: number, source: string): void {
    if (count <= this.highest) {
      this.restart();
    }
    this.note(id, count, this.scheduled.get(id) ?? source);
    this.scheduled.delete(id);
  }

  /** A new kernel has none of the names. */
  restart(): void {
    this.session += 1;
    this.highest = 0;
  }

  /** Whether the cell's output is from a kernel that is gone. */
  isOfEarlierKernel(id: string): boolean {
    const run = this.runs.get(id);
    return run !== undefined && run.session < this.session;
  }

  /** Notes edits, and returns the times of all cells in order. */
  times(cells: readonly SeenCell[]): CellTimes[] {
    return cells.map(({ id, source, execution_count }) => {
      if (execution_count === null) {
        this.runs.delete(id); // its outputs were cleared
      }
      const run = this.runs.get(id);
      if (run !== undefined) {
        run.editedAt = source === run.source ? null : (run.editedAt ?? ++this.clock);
      }
      const current = run?.session === this.session ? run : undefined;
      return {
        id,
        source,
        ran: current?.at ?? null,
        changed: current?.editedAt ?? current?.at ?? null
      };
    });
  }

  private note(id: string, count: number, source: string): void {
    this.highest = count;
    this.runs.set(id, { session: this.session, at: ++this.clock, source, editedAt: null });
  }
}

/** Whether a cell ran before another one changed; otherwise nothing can be stale. */
export function mayBeStale(times: readonly CellTimes[]): boolean {
  let latest = 0;
  for (const { ran, changed } of times) {
    if (ran !== null && ran < latest) {
      return true;
    }
    latest = Math.max(latest, changed ?? 0);
  }
  // A cell may also depend on one below it.
  const edited = times.some(({ ran, changed }) => changed !== null && ran !== changed);
  return edited && times.filter(({ ran }) => ran !== null).length > 1;
}
