"""What is lacking where a step says that it is done."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel


class ShortfallKind(StrEnum):
    """How a step did less than planned."""

    NOTHING_DONE = "nothing_done"
    MISSING_FILE = "missing_file"
    BROKEN_EXPECTATION = "broken_expectation"
    OPEN_FINDINGS = "open_findings"
    """A review asks for changes still, and may not send the work back any more."""


class Shortfall(BaseModel):
    """One thing that was planned and is not so, as the audit says it of the step."""

    kind: ShortfallKind
    what: str
