"""What the doctor finds: one line for each thing it looked at."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from ..domain.health import Problem
from ..policy.visible import visible


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, and what is right or what to do."""

    name: str
    ok: bool
    message: str


def judged(name: str, problems: Iterable[Problem], when_fine: str) -> Finding:
    """All that is wrong with it, or what is right."""
    found = [problem.message for problem in problems]
    return Finding(name, not found, " ".join(found) or when_fine)


def print_findings(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Show them to a person or to a program."""
    if as_json:
        ok = all(finding.ok for finding in findings)
        text = json.dumps({"ok": ok, "checks": [asdict(finding) for finding in findings]}, indent=2)
    else:
        width = max(len(finding.name) for finding in findings)
        text = "\n".join(
            f"{'✓' if finding.ok else '✗'} {finding.name:<{width}}  {visible(finding.message)}"
            for finding in findings
        )
    sys.stdout.write(text + "\n")
