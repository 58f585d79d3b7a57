"""What magics print as tables."""

from __future__ import annotations

from typing import Any

from cowork_jupyter.domain.messages import Message
from cowork_jupyter.hosts.kernel.views import audit, effects, history, models
from cowork_jupyter.record.audit import Audit, StatedAssumption, UnseenFigure


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


def test_a_models_price_is_shown_with_its_date() -> None:
    plain = {"configured": False, "small": False, "context_size": None, "price": None}
    dated = {"input": 0.1, "output": 2.0, "as_of": "2026-10-13"}
    large = {**plain, "name": "large", "configured": True, "price": {**dated, "as_of": ""}}
    tiny = {**plain, "name": "tiny", "small": True, "context_size": 8192, "price": dated}
    shown = models(({"items": [large, tiny], "currency": "USD"}, []))
    assert shown.splitlines()[2:] == [
        "| `large` |  | 0.1 USD in, 2 out | default |",
        "| `tiny` | 8,192 | 0.1 USD in, 2 out (2026-10-13) | summaries and completions |",
    ]


def test_effects_are_lines_with_their_warnings_below() -> None:
    warning = {"code": "x", "message": "3 rows <i>lost</i>.", "line": 3, "advice": "Look."}
    alone = {"of": "", "warnings": [{"code": "y", "message": "No seed."}]}
    shown = effects([{"of": "t", "line": "t: 12 → 9 rows (−3)", "warnings": [warning]}, alone])
    assert shown.splitlines() == [
        "- t: 12 → 9 rows (−3)",
        "  - **Warning:** line 3: 3 rows &lt;i>lost&lt;/i>. Look.",
        "- **Warning:** No seed.",
    ]
    assert effects([]) == "No run of this conversation has changed a table."


def test_an_audit_says_what_the_words_of_a_run_rest_on() -> None:
    found = Audit(
        context_id="c",
        figures=[UnseenFigure(text="12 %", message_id=one, job_id=None) for one in "ab"],
        assumptions=[StatedAssumption(text="In euros", status="confirmed")],
    )
    shown = audit(found.model_dump())
    assert "**Figures not found in any output**\n\n- 12 %\n" in shown
    assert "- In euros *(confirmed)*" in shown
    assert "output" not in audit(Audit(context_id="c").model_dump())
