"""In which order the user is shown what waits."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.agents.ask.inquiries import urgency
from cowork_jupyter.store import Inquiry


def permission(risk: str) -> Inquiry:
    return Inquiry(id=risk, kind="permission", context_id="c", data={"risk": risk})


def question(severity: str, **more: Any) -> Inquiry:
    return Inquiry(id=severity, context_id="c", data={"severity": severity}, **more)


ORDER = [
    permission("high"),
    permission("medium"),
    permission("low"),
    question("minor", asker="step"),
    question("critical"),
    question("major", asker="limits"),
    question("minor", asker="model"),
]


@pytest.mark.parametrize("turn", range(len(ORDER)))
def test_calls_come_first_by_risk_then_failed_steps_then_questions_by_severity(turn: int) -> None:
    mixed = [*ORDER[turn:], *ORDER[:turn]]
    assert sorted(mixed, key=urgency) == ORDER


def test_of_equals_the_oldest_stays_first() -> None:
    first, second = question("major"), question("major")
    second.id = "second"
    assert sorted([first, second], key=urgency) == [first, second]


def test_a_risk_that_nobody_knows_counts_as_high() -> None:
    assert urgency(permission("enormous")) == urgency(permission("high"))
