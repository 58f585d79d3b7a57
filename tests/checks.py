"""Runs the checks and adds up: `python -m tests.checks [lint|full]`.

Tests marked `slow` and checks that are slow as a whole run in `full` alone: what takes long and
seldom finds what the others do not.
Each check runs to its end whatever happened to the others, so that one run tells all
that is wrong. Unit, server and browser tests get processes of their own, because their
event loops do not mix; some run side by side, and what a check prints is shown when
it has ended. A skipped test counts as failed: it hides, it does not pass.

Tests with servers, kernels and browsers depend on time. One that fails is run again, alone, when
all else has ended; if it passes then, it is flaky: it counts as passed and is named in the totals.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tests import reports
from tests.reports import Result

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
HANGS = 600
"""Seconds after which a test must be stuck. On a machine that has much else to do, one that starts
two Jupyter servers takes more than the limit of `pyproject.toml`, which suits who waits for it."""
FLAKY = ROOT / "build" / "flaky"
"""Where both outputs of a flaky test are kept, in a folder named after it."""
FORBIDDEN = re.compile(r"[^\w.]+")
"""Characters of a test's id that do not go into the name of a folder."""
MAX_FLAKY = 3
MAX_RERUNS = 10
"""Where more fail, something is broken, and running all of it again would take hours."""


@dataclass(frozen=True)
class Check:
    name: str
    command: tuple[str, ...]
    report: reports.Format = ""
    folder: str = "."
    slow: bool = False
    """Whether all of it is; what only its tests need is then not installed for the others."""
    targets: tuple[str, ...] = ()
    """The tests to run, where the command does not know them."""
    marks: tuple[str, ...] = ()
    """Of those, the tests that pytest is to run by their marks."""
    reruns: bool = False
    """Whether a failed test gets a second chance."""


@dataclass(frozen=True)
class Outcome:
    check: Check
    result: Result
    seconds: float
    output: str


@dataclass(frozen=True)
class Flaky:
    """What failed, and then passed alone."""

    target: str
    first: Outcome
    outputs: Path
    """The folder where both are kept."""

    @property
    def tests(self) -> int:
        return self.first.result.targets[self.target]


def pytest_check(
    name: str,
    *options: str,
    folder: str = "",
    mark: str = "",
    slow: bool = False,
    reruns: bool = False,
) -> Check:
    command = (sys.executable, "-m", "pytest", "-q", f"--timeout={HANGS}", *options)
    targets, marks = (f"tests/{folder or name}",), (mark,) if mark else ()
    return Check(name, command, "junit", ".", slow, targets, marks, reruns)


NOTEBOOKS = (sys.executable, "-m", "tests.notebooks", "check", "-q")
LINT = [
    Check("mypy", (str(BIN / "mypy"),)),
    Check("js", ("npm", "run", "--silent", "lint"), folder="js"),
    Check("docs", (sys.executable, "-m", "docs.site")),
    Check("import-linter", (str(BIN / "lint-imports"), "--no-cache")),
    Check("schema", (sys.executable, "-m", "tests.schema", "check")),
    Check("messages", (sys.executable, "-m", "tests.messages", "check")),
    Check("integrations", (sys.executable, "-m", "tests.integrations", "check")),
    Check("names", (sys.executable, "-m", "tests.names")),
    Check("sizes", (sys.executable, "-m", "tests.sizes")),
    Check("circles", (sys.executable, "-m", "tests.circles")),
    Check("ruff check", (str(BIN / "ruff"), "check", ".")),
    Check("ruff format", (str(BIN / "ruff"), "format", "--check", ".")),
]

TESTS = [  # the longest first, so that none is left running alone at the end
    pytest_check("processes", folder="unit", mark="process"),
    pytest_check("server", reruns=True),
    pytest_check("ui", reruns=True),
    pytest_check("unit", mark="not process"),
    pytest_check("security"),
    pytest_check("packaging", slow=True, reruns=True),
    pytest_check("mcp", reruns=True),
    pytest_check("jupyter_ai", slow=True, reruns=True),
    pytest_check("hub", slow=True, reruns=True),
    pytest_check("cluster", reruns=True),
    pytest_check("acp", reruns=True),
    pytest_check("collaboration", slow=True, reruns=True),
    Check("notebooks", NOTEBOOKS, "junit", reruns=True),
    pytest_check("parts"),
    pytest_check("effects"),
    pytest_check("local", reruns=True),
    Check("vitest", ("npm", "run", "--silent", "test", "--"), "vitest", folder="js"),
]
AT_ONCE = 3
"""One more than the cores of a small machine: servers and browsers spend much time waiting."""


def quick(checks: list[Check]) -> list[Check]:
    """The same without what is slow."""
    return [
        replace(check, marks=(*check.marks, "not slow")) if check.report == "junit" else check
        for check in checks
        if not check.slow
    ]


def run(check: Check) -> Outcome:
    print(f"… {check.name}", flush=True)
    started = time.monotonic()
    folder = ROOT / check.folder
    with tempfile.TemporaryDirectory() as scratch:
        report, output = Path(scratch) / "report", Path(scratch) / "output"
        marks = ["-m", " and ".join(check.marks)] if check.marks else []
        reported = reports.arguments(check.report, report)
        command = [*check.command, *marks, *reported, *check.targets]
        with output.open("wb") as file:
            ended = subprocess.run(
                command, cwd=folder, check=False, stdout=file, stderr=subprocess.STDOUT
            )
        text = output.read_text(errors="replace").rstrip()
        result = reports.read(check.report, report, ended.returncode, folder)
    print(f"\n=== {check.name}\n{text}\n", flush=True)
    return Outcome(check, result, time.monotonic() - started, text)


def run_all(checks: list[Check]) -> list[Outcome]:
    """Side by side; outcomes in their order."""
    with ThreadPoolExecutor(AT_ONCE) as lanes:
        return list(lanes.map(run, checks))


def run_again(outcomes: list[Outcome], kept: Path) -> list[Flaky]:
    """One by one, the failed tests that get a second chance; gives those that passed it."""
    retried = [outcome for outcome in outcomes if outcome.check.reruns]
    failed = [(first, target) for first in retried for target in first.result.targets]
    flaky: list[Flaky] = []
    for first, target in failed[:MAX_RERUNS]:
        name = f"{first.check.name}, once more: {target}"
        second = run(replace(first.check, name=name, targets=("-rP", target)))
        if second.result.failed == 0:
            outputs = kept / f"{len(flaky) + 1}-{FORBIDDEN.sub('-', target)[:100]}"
            outputs.mkdir(parents=True)
            (outputs / "first.txt").write_text(first.output)
            (outputs / "second.txt").write_text(second.output)
            flaky.append(Flaky(target, first, outputs))
    return flaky


def check_all(checks: list[Check], kept: Path = FLAKY) -> int:
    """Run them and print the totals; gives how many failed."""
    shutil.rmtree(kept, ignore_errors=True)
    outcomes = run_all(checks)
    flaky = run_again(outcomes, kept)
    total_passed = total_failed = 0
    print()
    for outcome in outcomes:
        forgiven = sum(test.tests for test in flaky if test.first is outcome)
        passed, failed = outcome.result.passed + forgiven, outcome.result.failed - forgiven
        total_passed, total_failed = total_passed + passed, total_failed + failed
        _print_row(outcome.check.name, passed, failed, f"{outcome.seconds:>8.1f} s")
    if len(flaky) > MAX_FLAKY:
        total_failed += 1
        _print_row("flakiness", 0, 1, f"   more than {MAX_FLAKY} flaky tests")
    for test in flaky:
        where = os.path.relpath(test.outputs)
        print(f"flaky: {test.target} failed, then passed alone; both outputs are in {where}")
    print(f"total: {total_passed} passed, {total_failed} failed", flush=True)
    return total_failed


def _print_row(name: str, passed: int, failed: int, remark: str) -> None:
    print(f"{'✗' if failed else '✓'} {name:<14}{passed:>6} passed {failed:>4} failed{remark}")


if __name__ == "__main__":
    chosen = {"lint": LINT, "full": TESTS + LINT, "": quick(TESTS) + LINT}
    sys.exit(check_all(chosen["".join(sys.argv[1:])]) > 0)
