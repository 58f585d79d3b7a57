"""Measures what the project promises: `python -m measure.bench [NAME …]`.

Prints one table and writes `measure/bench/output/bench.json`. Figures are ratios against
something measured in the same run wherever that is possible, because machines differ.
A missed figure makes the exit code 1, but no test depends on it.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from dataclasses import asdict
from pathlib import Path

import measure.bench

from .rows import Row

OUTPUT = Path(__file__).parent / "output"


def benches() -> list[str]:
    """Every module here called `bench_…`; each has a `measure()` that yields rows."""
    found = [module.name for module in pkgutil.iter_modules(measure.bench.__path__)]
    return sorted(name for name in found if name.startswith("bench_"))


def main(wanted: list[str]) -> int:
    rows: list[Row] = []
    for name in benches():
        if wanted and not any(word in name for word in wanted):
            continue
        print(f"{name.removeprefix('bench_')} …", file=sys.stderr, flush=True)
        rows.extend(importlib.import_module(f"measure.bench.{name}").measure())
    print_table(rows)
    OUTPUT.mkdir(exist_ok=True)
    listed = [{**asdict(row), "kept": row.kept} for row in rows]
    (OUTPUT / "bench.json").write_text(json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
    return 0 if all(row.kept for row in rows) else 1


def print_table(rows: list[Row]) -> None:
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        bound = f"{'≥' if row.at_least else '≤'} {row.limit:g}" if row.limit is not None else ""
        value = f"{row.value:.3g} {row.unit}"
        print(
            f"{'✓' if row.kept else '✗'} {row.name:<{width}}  {value:>12}  {bound:<8}  {row.note}"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
