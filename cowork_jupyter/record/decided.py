"""Who asked for a run, and what they decided in it: for those who read its card later."""

from __future__ import annotations

import re

from ..store.records import PENDING
from .run import Run

_NOBODY = re.compile(r"[0-9a-f]{32}")
"""What Jupyter calls users who came with a token: it stands for no person."""


def asked_by(run: Run) -> str:
    """The name of whoever asked, if the server knows one."""
    return "" if _NOBODY.fullmatch(run.owner) else run.owner


def decisions(run: Run) -> list[str]:
    """What was approved or denied, a line each, oldest first."""
    lines = [f"Plan, revision {one.plan_revision}: approved" for one in run.executions]
    for one in run.permissions:
        if one.status != PENDING:
            what = f"{one.data.get('tool', '')} {one.data.get('resource') or ''}".strip()
            scope = (one.answer or {}).get("scope")
            lines.append(f"{what}: {one.status}" + (f", {scope}" if scope else ""))
    return lines
