"""Runs every check and adds up: `python -m tests.checks [lint]`.

Each check runs to its end whatever happened to the others, so that one run tells all
that is wrong. Unit, server and browser tests get processes of their own, because their
event loops do not mix; two of them run side by side, and what a check prints is shown when
it has ended. A skipped test counts as failed: it hides, it does not pass.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
HANGS = 600
"""Seconds after which a test must be stuck. On a machine that has much else to do, one that starts
two Jupyter servers takes more than the limit of `pyproject.toml`, which suits who waits for it."""


@dataclass(frozen=True)
class Check:
    name: str
    command: tuple[str, ...]
    report: str = ""
    """`junit` or `vitest` when the command counts its tests; else it is one check itself."""
    folder: str = "."
    alone: bool = False
    """Whether it needs the whole machine."""


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: int
    failed: int
    seconds: float


def pytest_check(name: str, *arguments: str, alone: bool = False) -> Check:
    command = (sys.executable, "-m", "pytest", "-q", f"--timeout={HANGS}", *arguments)
    return Check(name, command, report="junit", alone=alone)


LINT = [
    Check("ruff check", (str(BIN / "ruff"), "check", ".")),
    Check("ruff format", (str(BIN / "ruff"), "format", "--check", ".")),
    Check("mypy", (str(BIN / "mypy"),)),
    Check("import-linter", (str(BIN / "lint-imports"), "--no-cache")),
    Check("docs", (sys.executable, "-m", "docs.site")),
    Check("tsc", ("npm", "run", "--silent", "lint"), folder="js"),
]

TESTS = [  # the longest first, so that none is left running alone at the end
    pytest_check("unit", "tests/unit"),
    pytest_check("security", "tests/security"),
    pytest_check("server", "tests/server"),
    pytest_check("packaging", "tests/packaging"),
    Check("notebooks", (sys.executable, "-m", "tests.notebooks", "check", "-q"), report="junit"),
    pytest_check("cluster", "tests/cluster"),
    pytest_check("local", "tests/local"),
    pytest_check("acp", "tests/acp"),
    pytest_check("mcp", "tests/mcp"),
    Check("vitest", ("npm", "run", "--silent", "test", "--"), report="vitest", folder="js"),
    pytest_check("collaboration", "tests/collaboration", alone=True),
    pytest_check("ui", "tests/ui", alone=True),
]
AT_ONCE = 2


def run(check: Check, report: Path) -> Outcome:
    print(f"… {check.name}", flush=True)
    started = time.monotonic()
    command = [*check.command, *_report_arguments(check.report, report)]
    with report.with_suffix(".output").open("w+b") as output:
        exit_code = subprocess.run(
            command, cwd=ROOT / check.folder, check=False, stdout=output, stderr=subprocess.STDOUT
        ).returncode
        seconds = time.monotonic() - started
        output.seek(0)
        said = output.read().decode(errors="replace").rstrip()
    print(f"\n=== {check.name}\n{said}\n", flush=True)
    passed, failed = _counts(check.report, report, exit_code)
    return Outcome(check.name, passed, failed, seconds)


def _report_arguments(kind: str, report: Path) -> list[str]:
    if kind == "junit":
        return [f"--junit-xml={report}"]
    if kind == "vitest":
        return ["--reporter=default", "--reporter=json", f"--outputFile.json={report}"]
    return []


def _counts(kind: str, report: Path, exit_code: int) -> tuple[int, int]:
    """Passed and failed. A run that failed without a failed test (a crash, nothing
    collected) still counts as one failure."""
    total = bad = 0
    if kind == "junit" and report.exists():
        suite = next(ET.parse(report).getroot().iter("testsuite"))
        total = int(suite.attrib["tests"])
        bad = sum(int(suite.attrib[what]) for what in ("failures", "errors", "skipped"))
    elif kind == "vitest" and report.exists():
        found = json.loads(report.read_text())
        total = found["numTotalTests"]
        bad = total - found["numPassedTests"]
    elif not kind:
        total, bad = 1, int(exit_code != 0)
    if total == 0 or (exit_code != 0 and bad == 0):
        return total, 1
    return total - bad, bad


def run_all(checks: list[Check]) -> list[Outcome]:
    """Two at a time, then one by one those that want to be alone; outcomes in their order."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as lanes:
        reports = {check: Path(folder) / f"report{n}.xml" for n, check in enumerate(checks)}
        together = {
            check: lanes.submit(run, check, reports[check]) for check in checks if not check.alone
        }
        done = {check: started.result() for check, started in together.items()}
        done |= {check: run(check, reports[check]) for check in checks if check.alone}
    return [done[check] for check in checks]


def main() -> int:
    checks = LINT if sys.argv[1:] == ["lint"] else LINT + TESTS
    outcomes = run_all(checks)
    print()
    for outcome in outcomes:
        mark = "✗" if outcome.failed else "✓"
        print(
            f"{mark} {outcome.name:<14}{outcome.passed:>6} passed {outcome.failed:>4} failed"
            f"{outcome.seconds:>8.1f} s"
        )
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    print(f"total: {passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
