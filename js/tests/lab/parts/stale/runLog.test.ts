import { describe, expect, it } from 'vitest';

import { mayBeStale, RunLog, type SeenCell } from '../../../../src/lab/parts/stale/runLog';

function cells(...counts: (number | null)[]): SeenCell[] {
  return counts.map((execution_count, at) => ({
    id: `c${at}`,
    source: `s${at}`,
    execution_count
  }));
}

describe('when cells ran', () => {
  it('nothing can be stale after a run from top to bottom', () => {
    const log = new RunLog();
    log.begin(cells(1, 2, 3));
    expect(mayBeStale(log.times(cells(1, 2, 3)))).toBe(false);
  });

  it('a cell that ran before one above it may be stale', () => {
    const log = new RunLog();
    log.begin(cells(1, 2, 3));
    log.ran('c0', 4, 's0');
    const times = log.times(cells(4, 2, 3));
    expect(times.map(({ ran }) => ran)).toEqual([4, 2, 3]);
    expect(mayBeStale(times)).toBe(true);
  });

  it('an edit counts from when it was made until it is taken back or run', () => {
    const log = new RunLog();
    log.begin(cells(1, 2));
    const edited = cells(1, 2).map(cell => (cell.id === 'c0' ? { ...cell, source: 'new' } : cell));
    expect(log.times(edited)[0]).toMatchObject({ ran: 1, changed: 3 });
    expect(mayBeStale(log.times(edited))).toBe(true);
    expect(log.times(cells(1, 2))[0]).toMatchObject({ ran: 1, changed: 1 });
    log.times(edited);
    log.ran('c0', 3, 'new');
    log.ran('c1', 4, 's1');
    expect(
      mayBeStale(log.times(edited.map((cell, at) => ({ ...cell, execution_count: 3 + at }))))
    ).toBe(false);
  });

  it('an edit while the cell runs is an edit', () => {
    const log = new RunLog();
    log.schedule('c0', 's0');
    log.ran('c0', 1, 'typed meanwhile');
    const [time] = log.times([{ id: 'c0', source: 'typed meanwhile', execution_count: 1 }]);
    expect(time?.changed).toBeGreaterThan(time?.ran ?? 0);
  });

  it('numbers that begin anew are of another kernel', () => {
    const log = new RunLog();
    log.begin(cells(1, 2));
    log.ran('c0', 1, 's0');
    expect(log.isOfEarlierKernel('c1')).toBe(true);
    expect(log.isOfEarlierKernel('c0')).toBe(false);
    expect(log.times(cells(1, 2))[1]).toMatchObject({ ran: null, changed: null });
  });

  it('a restart makes all of an earlier kernel, and cleared cells of none', () => {
    const log = new RunLog();
    log.begin(cells(1, 2));
    log.restart();
    expect(log.isOfEarlierKernel('c1')).toBe(true);
    log.times(cells(null, null));
    expect(log.isOfEarlierKernel('c1')).toBe(false);
  });
});
