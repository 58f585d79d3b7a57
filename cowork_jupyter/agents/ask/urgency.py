"""In which order the user is shown what waits for them: by how much hangs on it, then by age."""

from __future__ import annotations

from ...policy.calls import Risk
from ...store import Inquiry

_SEVERITIES = ("critical", "major", "minor")


def urgency(inquiry: Inquiry) -> tuple[int, int]:
    """Less comes first: calls by their risk, then steps that have failed, then other questions."""
    if inquiry.kind == "permission":
        return 0, -_risk(str(inquiry.data.get("risk", "")))
    if inquiry.asker == "step":
        return 1, 0
    severity = inquiry.data.get("severity")
    return 2, _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)


def _risk(name: str) -> Risk:
    """What is not known to be harmless may do harm."""
    return Risk.__members__.get(name.upper(), Risk.HIGH)
