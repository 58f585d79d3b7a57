"""The list of variables: how much of it is told, and what that depends on."""

from __future__ import annotations

import time
from typing import Any

import pytest

from cowork_jupyter.tools.kernel.inside import report
from cowork_jupyter.tools.kernel.inside.plain import type_name

SPACE = {f"v{number}": number for number in range(20)}


def told() -> dict[str, str]:
    return {name: about for name, _, about in report.listing(SPACE, {})["items"]}


def test_what_takes_too_much_work_is_told_by_its_type_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(report, "SECONDS", 0.0)
    assert told() == dict.fromkeys(SPACE, "")


def test_time_in_which_the_machine_does_something_else_takes_nothing_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(value: Any) -> str:
        if value == 3:
            time.sleep(2 * report.SECONDS)
        return type_name(value)

    monkeypatch.setattr(report, "type_name", interrupted)
    assert told() == {name: str(value) for name, value in SPACE.items()}
