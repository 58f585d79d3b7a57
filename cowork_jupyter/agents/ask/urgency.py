"""The order in which the user is shown what waits for them: by importance, then by age."""

from __future__ import annotations

from ...policy.calls import Risk
from ...store import Inquiry

_SEVERITIES = ("critical", "major", "minor")


def urgency(inquiry: Inquiry) -> tuple[int, int]:
    """Lowest first: calls by risk, then failed steps, then other questions by severity."""
    if inquiry.kind == "permission":
        return 0, -_risk(str(inquiry.data.get("risk", "")))
    if inquiry.asker == "step":
        return 1, 0
    severity = inquiry.data.get("severity")
    return 2, _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)


def _risk(name: str) -> Risk:
    """Unknown risks count as high."""
    return Risk.__members__.get(name.upper(), Risk.HIGH)
