"""What magics print as tables."""

from __future__ import annotations

from typing import Any

from cowork_jupyter.domain.messages import Message
from cowork_jupyter.kernel.views import history


def said(text: str, kind: str, **data: Any) -> dict[str, Any]:
    message = {"role": "user", "message_type": kind, "content": text, "data": data}
    return Message.model_validate({"context_id": "c", **message}).model_dump(mode="json")


def test_what_we_tell_an_agent_is_not_shown_as_the_users_words() -> None:
    shown = history(
        [
            said("Report on sales", "text"),
            said("Your task is step 1 …", "task_assignment", step={"action": "Read sales.csv"}),
            said("Re-plan from here. Steps that …", "task_assignment", replan=True),
        ]
    )
    rows = [line.split(" | ")[1:] for line in shown.splitlines()[2:]]
    assert rows == [
        ["You", "text", "Report on sales |"],
        ["Cowork", "task assignment", "Read sales.csv |"],
        ["Cowork", "task assignment", "re-plan from here |"],
    ]
