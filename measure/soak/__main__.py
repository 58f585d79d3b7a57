"""`python -m measure.soak --minutes 30 --seed 7`: a line a minute, a table at the end."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from .run import Options, Report, soak


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m measure.soak", description=__doc__)
    defaults = Options()
    parser.add_argument("--minutes", type=float, default=defaults.minutes)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--users", type=int, default=defaults.users)
    parser.add_argument("--kills", type=int, default=defaults.kills)
    parser.add_argument("--full-disks", type=int, default=defaults.full_disks)
    parser.add_argument("--keep", type=Path, help="a folder for logs and the record, kept")
    given = parser.parse_args()
    options = Options(given.minutes, given.seed, given.users, given.kills, given.full_disks)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = given.keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        report = asyncio.run(soak(options, place, lambda line: print(line, flush=True)))
    print_table(options, report)
    return 1 if report.problems else 0


def print_table(options: Options, report: Report) -> None:
    diary = report.diary
    print(f"\nseed {options.seed}, {options.users} users, {options.minutes:g} minutes")
    print(f"disk     filled {options.full_disks} times, by {report.disk}")
    print(f"users    {_counted(diary.actions)}")
    print(f"answers  {_counted(diary.answers)}")
    print(f"jobs     {_counted(report.jobs)}")
    print(f"events   {diary.events:,} seen")
    for number, life in enumerate(report.lives, 1):
        if not life.holdings:
            continue
        first, last = life.holdings[0], life.holdings[-1]
        grown = "too short to judge" if life.growth is None else f"{life.growth:+.1%} after warm-up"
        print(
            f"life {number:2}  {life.seconds:.0f} s, {first.resident / 2**20:.0f} →"
            f" {last.resident / 2**20:.0f} MiB ({grown}); descriptors {first.descriptors} →"
            f" {last.descriptors}, tasks {first.tasks} → {last.tasks},"
            f" threads {first.threads} → {last.threads}"
        )
    for problem in report.problems:
        print(f"✗ {problem}")
    print("Everything held." if not report.problems else f"{len(report.problems)} did not hold.")


def _counted(what: dict[str, int] | dict[int, int]) -> str:
    ordered = sorted(what.items(), key=lambda one: -one[1])
    return ", ".join(f"{times:,} {name}" for name, times in ordered)


if __name__ == "__main__":
    sys.exit(main())
