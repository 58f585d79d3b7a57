"""Who asked for a run, and what they decided in it: for those who read its card later."""

from __future__ import annotations

import re

from ..domain.contexts import Initiator
from .card_model import UserDecision
from .run import RecordedRun

EXECUTED: dict[Initiator, str] = {
    "person": "was approved",
    "kernel": "was executed by code",
    "policy": "was executed by code, under a policy file",
    "guest": "was executed by another agent",
}
"""What became of a plan's revision, by who had it executed: only a person approves."""
_NOBODY = re.compile(r"[0-9a-f]{32}")
"""What Jupyter calls users who came with a token: it stands for no person."""


def asked_by(run: RecordedRun) -> str:
    """The name of whoever asked, if the server knows one."""
    return "" if _NOBODY.fullmatch(run.owner) else run.owner


def decisions(run: RecordedRun) -> list[UserDecision]:
    """The calls that the user has allowed or denied, oldest first."""
    return [
        UserDecision(
            id=one.id,
            job_id=one.job_id,
            task_id=one.task_id,
            what=one.data.get("resource") or one.data.get("tool", ""),
            allowed=one.answer.get("decision") == "allow",
            feedback=one.answer.get("feedback", ""),
            at=one.resolved_at or one.created_at,
        )
        for one in run.permissions
        if one.answer
    ]
