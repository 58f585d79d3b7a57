/** When the cells of a notebook ran and were edited, as far as this page has seen it. */

export interface SeenCell {
  id: string;
  source: string;
  execution_count: number | null;
}

/** What the server is told of a cell; times are steps of one clock. */
export interface CellTimes {
  id: string;
  source: string;
  /** When it ran; null if it did not, in this kernel. */
  ran: number | null;
  /** When what it makes became another: it ran, or was edited after that. */
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

  /** What the notebook says of the time before this page. */
  begin(cells: readonly SeenCell[]): void {
    const ran = cells.filter(cell => cell.execution_count !== null);
    ran.sort((one, other) => one.execution_count! - other.execution_count!);
    ran.forEach(cell => this.note(cell.id, cell.execution_count!, cell.source));
  }

  /** What a cell says when it is run; it may be edited before that has ended. */
  schedule(id: string, source: string): void {
    this.scheduled.set(id, source);
  }

  /** A kernel counts up: a number that is not higher than all before is of another one. */
  ran(id: string, count: number, source: string): void {
    if (count <= this.highest) {
      this.restart();
    }
    this.note(id, count, this.scheduled.get(id) ?? source);
    this.scheduled.delete(id);
  }

  /** The kernel is another one, and has none of the names. */
  restart(): void {
    this.session += 1;
    this.highest = 0;
  }

  /** Whether what the cell shows is of a kernel that is gone. */
  isOfEarlierKernel(id: string): boolean {
    const run = this.runs.get(id);
    return run !== undefined && run.session < this.session;
  }

  /** Notes edits, and gives the times of all cells in their order. */
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

/** Whether a cell ran before another one changed: only then can something be out of date. */
export function mayBeStale(times: readonly CellTimes[]): boolean {
  let latest = 0;
  for (const { ran, changed } of times) {
    if (ran !== null && ran < latest) {
      return true;
    }
    latest = Math.max(latest, changed ?? 0);
  }
  // A cell may also need one that stands below it.
  const edited = times.some(({ ran, changed }) => changed !== null && ran !== changed);
  return edited && times.filter(({ ran }) => ran !== null).length > 1;
}
