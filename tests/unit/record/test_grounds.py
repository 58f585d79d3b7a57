"""What a run's words rest on, as audit, export and card show it."""

from __future__ import annotations

from cowork_jupyter.domain.figures import Assumption, Figure, FigureSource
from cowork_jupyter.domain.messages import MessageType, TaskResultData, TextData, ToolResultData

from .logs import Log
from .test_card import card_of, message, plan_of, run
from .test_export import exported

SEEN = Figure(text="12,431", value=12431, source=FigureSource(cell_id="c1"))
UNSEEN = Figure(text="12 %", value=12)
ASSUMED = [
    Assumption(text="`at` is the date", status="confirmed"),
    Assumption(text="No refunds", status="corrected", correction="With refunds"),
    Assumption(text="In euros"),
]


def log_of(text: TextData) -> Log:
    log = Log()
    log.say("12,431 rows, 12 % more", **text.model_dump())
    return log


def test_the_audit_lists_figures_without_a_source() -> None:
    log = log_of(TextData(figures=[SEEN, UNSEEN]))
    cell = ToolResultData(call_id="c", ok=True, tool="insert_cell", figures=[UNSEEN])
    log.say("ok", MessageType.TOOL_RESULT, **cell.model_dump())
    done = TaskResultData(status="completed", figures=[SEEN])
    log.say("ok", MessageType.TASK_RESULT, **done.model_dump())
    assert [one.text for one in log.audit().figures] == ["12 %", "12 %"]
    assert log.audit().figures[0].message_id == log.messages[0].id
    report = exported(log)
    assert report.count("- 12 %") == 1
    assert "## Figures not found in any output" in report


def test_the_audit_lists_assumptions_as_they_stand() -> None:
    log = log_of(TextData(assumptions=ASSUMED))
    found = log.audit().assumptions
    assert [(one.text, one.status) for one in found] == [(one.text, one.status) for one in ASSUMED]
    assert found[0].message_id == log.messages[0].id
    report = exported(log)
    assert "- `at` is the date *(confirmed)*" in report
    assert "- No refunds *(corrected: With refunds)*" in report
    assert "- In euros *(not confirmed)*" in report


def test_without_either_nothing_is_said() -> None:
    report = exported(log_of(TextData(figures=[SEEN])))
    assert "Figures" not in report
    assert "Assumptions" not in report


def test_a_card_keeps_what_its_words_rest_on() -> None:
    said = message("12,431 rows, 12 % more")
    said.data = TextData(figures=[SEEN, UNSEEN], assumptions=ASSUMED)
    revision = plan_of({"action": "count"})
    revision.plan.assumptions = ASSUMED
    card = card_of(run(said, revision=revision))
    kept = card.card.snapshot.messages[-1].data
    assert [one["text"] for one in kept["figures"]] == ["12,431", "12 %"]
    assert [one["status"] for one in kept["assumptions"]] == ["confirmed", "corrected", "open"]
    assert card.card.snapshot.plan
    assert card.card.snapshot.plan.assumptions == ASSUMED
    assert "Not found in any output: 12 %" in card.markdown
    assert "Assumes: `at` is the date (confirmed); No refunds (With refunds)" in card.markdown


def test_what_was_rolled_back_is_told() -> None:
    log = log_of(TextData(rollback="cp_1"))
    assert log.audit().afterwards == [log.messages[-1].text]
    assert "## Afterwards\n\n- 12,431 rows" in exported(log)
