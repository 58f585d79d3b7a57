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
"""By who had a revision executed: only a person approves."""
_NOBODY = re.compile(r"[0-9a-f]{32}")
"""Jupyter's names for users authenticated by token: they identify no person."""


def asked_by(run: RecordedRun) -> str:
    """Empty if the server knows no name."""
    return "" if _NOBODY.fullmatch(run.owner) else run.owner


def decisions(run: RecordedRun) -> list[UserDecision]:
    """The calls that the user has allowed or denied, oldest first."""
    return [
        UserDecision(
            id=permission.id,
            job_id=permission.job_id,
            task_id=permission.task_id,
            what=permission.data.get("resource") or permission.data.get("tool", ""),
            allowed=permission.answer.get("decision") == "allow",
            feedback=permission.answer.get("feedback", ""),
            by=permission.answer.get("by", ""),
            at=permission.resolved_at or permission.created_at,
        )
        for permission in run.permissions
        if permission.answer
    ]
