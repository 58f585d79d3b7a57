"""What a run of tests says of itself, read from the report it wrote."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

Format = Literal["junit", "vitest", ""]
"""How a command counts its tests. With the last one it counts none: it is one check itself."""
SOME_FAILED = 1
"""The exit code of a pytest that ran to its end; higher ones say that it did not."""


@dataclass(frozen=True)
class Result:
    passed: int
    failed: int
    targets: Counter[str] = field(default_factory=Counter)
    """What to give to pytest to run the failed tests again, and how many failed in each."""


def arguments(kind: Format, report: Path) -> list[str]:
    """What has the command write its report."""
    if kind == "junit":
        return [f"--junit-xml={report}", "-o", "junit_family=xunit1"]  # which has files
    if kind == "vitest":
        return ["--reporter=default", "--reporter=json", f"--outputFile.json={report}"]
    return []


def read(kind: Format, report: Path, exit_code: int, root: Path) -> Result:
    """A run that failed without a failed test (a crash, nothing collected) still counts as one
    failure. `root` is where test ids begin."""
    if not kind:
        return Result(int(exit_code == 0), int(exit_code != 0))
    result = Result(0, 0)
    if report.exists():
        result = _junit(report, root) if kind == "junit" else _vitest(report)
    if result.passed + result.failed == 0 or (exit_code != 0 and result.failed == 0):
        return Result(result.passed, 1)
    return result if exit_code == SOME_FAILED else Result(result.passed, result.failed)


def _vitest(report: Path) -> Result:
    found = json.loads(report.read_text())
    return Result(found["numPassedTests"], found["numTotalTests"] - found["numPassedTests"])


def _junit(report: Path, root: Path) -> Result:
    """A test that fails and then cannot clean up stands there twice. A skipped one hides: it
    counts as failed, and would hide again."""
    results: dict[_Test, set[str]] = {}
    for case in ET.parse(report).getroot().iter("testcase"):
        test = _Test(*(case.get(key, "") for key in ("file", "classname", "name")))
        results.setdefault(test, set()).update(child.tag for child in case)
    failed = [test for test, tags in results.items() if tags & {"failure", "error"}]
    skipped = [test for test, tags in results.items() if tags & {"skipped"}]
    bad = len({*failed, *skipped})
    targets = Counter(target for test in failed if (target := test.target(root)))
    return Result(len(results) - bad, bad, targets)


class _Test(NamedTuple):
    """What the report calls a test; for a cell, only the file tells of which notebook it is."""

    file: str
    classname: str
    name: str

    def target(self, root: Path) -> str:
        """The report has `tests.server.test_cells.TestRun` where pytest wants a path and classes.

        A notebook runs as a copy elsewhere, and its cells need those before them. What could not
        be collected is no test.
        """
        if self.file.endswith(".ipynb"):
            return "/".join(Path(self.file).parts[-2:])
        parts = self.classname.split(".")
        for end in range(len(parts), 0, -1):
            path = "/".join(parts[:end]) + ".py"
            if (root / path).is_file():
                return "::".join([path, *parts[end:], self.name])
        return ""
