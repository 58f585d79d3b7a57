"""What deciding about a command costs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

from cowork_jupyter.policy.shell import analyse

from .rows import Row

ROUNDS = 300
TYPICAL = {
    "one command": "git status --short",
    "a pipe": 'grep -rn "def main" --include="*.py" src | sort | head -20',
    "a script": "cd src && python -m pytest tests/unit -q -x 2>&1 | tail -20; echo $?",
}


def measure() -> Iterator[Row]:
    analyse("true")  # loads the parser
    for name, text in TYPICAL.items():
        micros = median_micros(lambda text=text: analyse.__wrapped__(text))  # type: ignore[misc]
        yield Row(
            f"shell analysis of {name}", micros, "µs", 1000, f"not remembered, {ROUNDS} times"
        )
    known = TYPICAL["a script"]
    yield Row(
        "shell analysis of a line seen before",
        median_micros(lambda: analyse(known)),
        "µs",
        5,
        f"median of {ROUNDS}",
    )


def median_micros(work: Callable[[], object]) -> float:
    times = list[float]()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6
