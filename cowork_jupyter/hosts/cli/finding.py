"""What the doctor finds: one line for each thing it looked at."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from ...domain.health import Problem
from ...policy.visible import visible

_PROMISES = "Security promises, and whether they hold on this machine:"


@dataclass(frozen=True)
class DoctorFinding:
    """One thing that was looked at, and what is right or what to do."""

    name: str
    ok: bool
    message: str


@dataclass(frozen=True)
class Promise:
    """A promise about security. Where it does not hold, the text says what is so instead, and
    what helps.
    """

    text: str
    holds: bool


def judged(name: str, problems: Iterable[Problem], when_fine: str) -> DoctorFinding:
    """All that is wrong with it, or what is right."""
    found = [problem.message for problem in problems]
    return DoctorFinding(name, not found, " ".join(found) or when_fine)


def print_findings(
    findings: Sequence[DoctorFinding], promises: Sequence[Promise], *, as_json: bool
) -> None:
    """Show them to a person or to a program."""
    if as_json:
        found = {
            "ok": all(finding.ok for finding in findings),
            "checks": [asdict(finding) for finding in findings],
            "promises": [asdict(promise) for promise in promises],
        }
        text = json.dumps(found, indent=2)
    else:
        width = max(len(finding.name) for finding in findings)
        checks = [
            f"{_mark(finding.ok)} {finding.name:<{width}}  {visible(finding.message)}"
            for finding in findings
        ]
        kept = [f"{_mark(promise.holds)} {visible(promise.text)}" for promise in promises]
        text = "\n".join([*checks, "", _PROMISES, *kept])
    sys.stdout.write(text + "\n")


def _mark(good: bool) -> str:
    return "✓" if good else "✗"
