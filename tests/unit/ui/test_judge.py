"""The judge's rules, on made-up cards: right ones pass, and each wrong one is found."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.judge.cards import ShownCard, ShownStep, same
from tests.ui.judge.facts import (
    Checkpoint,
    Decision,
    Facts,
    Job,
    Message,
    Plan,
    PlanText,
    Step,
    Task,
    UserRequest,
)
from tests.ui.judge.rules import differences
from tests.ui.judge.saved import CARD, cards_in, markdown_differences

ACTIONS = ("Write `a.txt`", "Write b.txt")


def job(name: str, at: int, **fields: Any) -> Job:
    made: dict[str, Any] = {
        "context_id": "c",
        "card_id": name,
        "kind": "message",
        "role": "planner",
        "request": "Report on north",
        "status": "completed",
        "created_at": f"2026-01-01T00:00:{at:02}Z",
        "completed_at": f"2026-01-01T00:00:{at + 1:02}Z",
    }
    return Job(id=name, **{**made, **fields})


def planning(name: str, at: int, plan: str, **fields: Any) -> Job:
    return job(name, at, plan_id=plan, plan_revision=1, **fields)


def execution(name: str, at: int, plan: str, card: str, **fields: Any) -> Job:
    tasks = [
        Task(id=f"{name}-{n}", step_id=str(n), status="completed", result=f"Did {n}.")
        for n in (1, 2)
    ]
    made: dict[str, Any] = {"kind": "plan", "role": "actor", "tasks": tasks, "plan_revision": 1}
    return job(name, at, card_id=card, plan_id=plan, **{**made, **fields})


def plan(name: str, revision: int = 1, status: str = "pending") -> Plan:
    steps = [
        Step(id=str(n), step_number=n, action=action, status=status)
        for n, action in enumerate(ACTIONS, start=1)
    ]
    return Plan(id=name, revision=revision, plan=PlanText(goal=f"Goal of {name}", steps=steps))


ONE = planning("one", 1, "p1")
DONE = execution("run", 4, "p1", "one")
TWO = planning("two", 10, "p2")
FACTS = Facts(
    context_id="c",
    role="planner",
    jobs=[ONE, DONE, TWO],
    plans=[plan("p1", status="completed"), plan("p2")],
    checkpoints=[Checkpoint(id="k", job_id="run", files=["a.txt"])],
)
"""Two plans with the same step ids; the first was executed, the second never."""


def rows(status: str, *results: str) -> list[ShownStep]:
    return [
        ShownStep(action=action.replace("`", ""), status=status, result=result)
        for action, result in zip(ACTIONS, results or ("", ""), strict=True)
    ]


FIRST = ShownCard(
    where="first",
    context_id="c",
    card_id="one",
    role="actor",
    status="completed",
    goal="Goal of p1",
    steps=rows("completed", "Did 1.", "Did 2."),
    buttons=["Discuss…", "Re-plan", "Changes", "Roll back…"],
    lines=["You approved the plan."],
    questions=[],
    permissions=[],
)
SECOND = ShownCard(
    where="second",
    context_id="c",
    card_id="two",
    role="planner",
    status="ready",
    goal="Goal of p2",
    steps=rows("pending"),
    buttons=["Execute plan", "Edit steps", "Discuss…", "Re-plan"],
    questions=[],
    permissions=[],
)


def changed(card: ShownCard, **fields: Any) -> ShownCard:
    return card.model_copy(update=fields)


def offering(card: ShownCard, name: str) -> ShownCard:
    return changed(card, buttons=[*(card.buttons or []), name])


def found(card: ShownCard, facts: Facts = FACTS) -> str:
    return "\n".join(differences(card, facts))


@pytest.mark.parametrize("card", [FIRST, SECOND], ids=lambda card: card.where)
def test_a_card_that_shows_what_happened_passes(card: ShownCard) -> None:
    assert found(card) == ""


WRONG = {
    "the role is “actor”": changed(SECOND, role="actor"),
    "the status is “completed”, but should be “ready”": changed(SECOND, status="completed"),
    "the goal is “Goal of p2”": changed(FIRST, goal="Goal of p2"),
    "step 1 is “completed”, but should be “pending”": changed(SECOND, steps=rows("completed")),
    "counts as done, but no execution": changed(SECOND, steps=rows("completed")),
    "it shows 1 steps, but its plan has 2": changed(FIRST, steps=FIRST.steps[:1]),
    "step 2 is “Else”": changed(
        FIRST, steps=[FIRST.steps[0], ShownStep(action="Else", status="completed")]
    ),
    "has the result “”": changed(FIRST, steps=rows("completed")),
    "it does not offer “Execute plan”": changed(SECOND, buttons=["Discuss…"]),
    "it offers “Execute plan”": offering(FIRST, "Execute plan"),
    "it offers “Continue”": offering(FIRST, "Continue"),
    "it offers “Stop”": offering(FIRST, "Stop"),
    "it does not offer “Re-plan”": changed(FIRST, buttons=["Discuss…", "Changes", "Roll back…"]),
    "it does not offer “Roll back…”": changed(FIRST, buttons=["Discuss…", "Re-plan", "Changes"]),
    "it offers “Roll back…”, but its jobs changed nothing": offering(SECOND, "Roll back…"),
    "“You approved the plan.”, but none": changed(SECOND, lines=["You approved the plan."]),
    "instructions for an agent: “your task is step”": changed(
        SECOND, text="Planner Your task is step 1 of an approved plan."
    ),
    "what nobody said in its jobs: “Your task": changed(
        SECOND, said_by_user=["Your task is step 1 of an approved plan."]
    ),
    "what nobody said": changed(SECOND, said_by_user=["Delete everything"]),
    "“You allowed: rm -r x”, but the user decided nothing": changed(
        FIRST, lines=["You allowed: rm -r x"]
    ),
    "it asks for the questions ['Why?'], but []": changed(FIRST, questions=["Why?"]),
}


@pytest.mark.parametrize(("complaint", "card"), WRONG.items(), ids=list(WRONG))
def test_each_wrong_thing_on_a_card_is_found(complaint: str, card: ShownCard) -> None:
    assert complaint in found(card)


def with_jobs(*jobs: Job, **fields: Any) -> Facts:
    return FACTS.model_copy(update={"jobs": list(jobs), **fields})


def test_a_plan_that_was_begun_and_is_not_done_can_go_on() -> None:
    tasks = [
        Task(id="t1", step_id="1", status="completed", result="Did 1."),
        Task(id="t2", step_id="2", status="failed", error="No."),
    ]
    facts = with_jobs(ONE, execution("run", 4, "p1", "one", status="failed", tasks=tasks))
    steps = [FIRST.steps[0], ShownStep(action=ACTIONS[1], status="failed")]
    buttons = ["Continue", "Edit steps", "Discuss…", "Re-plan", "Changes", "Roll back…"]
    card = changed(FIRST, status="failed", steps=steps, buttons=buttons)
    assert found(card, facts) == ""
    assert "it does not offer “Continue”" in found(changed(card, buttons=buttons[1:]), facts)


def test_a_plan_made_anew_can_be_executed_and_finished_steps_stay_done() -> None:
    newer = plan("p1", revision=2)
    newer.plan.steps[0].status = "completed"
    again = planning("again", 8, "p1", card_id="one")
    facts = with_jobs(ONE, DONE, again, plans=[plan("p1", status="completed"), newer])
    steps = [ShownStep(action=ACTIONS[0], status="completed"), rows("pending")[1]]
    buttons = ["Execute plan", "Edit steps", "Discuss…", "Re-plan", "Changes", "Roll back…"]
    card = changed(FIRST, role="planner", status="ready", steps=steps, buttons=buttons)
    assert found(card, facts) == ""
    assert "it does not offer “Execute plan”" in found(changed(card, buttons=buttons[1:]), facts)


def test_while_a_job_runs_its_card_offers_to_stop_it_and_other_cards_offer_nothing() -> None:
    running = planning("two", 10, "p2", status="running", completed_at=None)
    facts = with_jobs(ONE, DONE, running)
    works = changed(SECOND, status="running", buttons=["Stop"])
    assert found(works, facts) == ""
    assert "it does not offer “Stop”" in found(changed(works, buttons=[]), facts)
    assert found(changed(FIRST, buttons=[]), facts) == ""
    assert "it offers “Re-plan”" in found(FIRST, facts)


def test_what_waits_is_asked_on_the_card_of_its_job_and_nowhere_else() -> None:
    waiting = job("two", 10, status="waiting", completed_at=None, role="actor")
    asked = [UserRequest(id="q", job_id="two", words="Which rows?")]
    facts = with_jobs(waiting, questions=asked, role="actor")
    card = ShownCard(
        where="card",
        context_id="c",
        card_id="two",
        role="actor",
        status="waiting",
        goal="Report on north",
        buttons=["Stop"],
        questions=["Which rows?"],
        permissions=[],
    )
    assert found(card, facts) == ""
    assert "['Which rows?'] wait in its jobs" in found(changed(card, questions=[]), facts)


def test_what_the_user_decided_is_told_where_no_step_tells_it() -> None:
    decision = Decision(id="d", job_id="act", words="pip install x", allowed=True)
    facts = with_jobs(job("act", 1, role="actor"), decisions=[decision], role="actor")
    card = ShownCard(
        where="card",
        context_id="c",
        card_id="act",
        role="actor",
        status="completed",
        goal="Report on north",
        buttons=["Discuss…"],
        lines=["You allowed: pip install x"],
    )
    assert found(card, facts) == ""
    assert "what the user decided about “pip install x”" in found(changed(card, lines=[]), facts)


def test_each_delegated_task_has_its_row_where_there_is_no_plan() -> None:
    task = Task(id="t", step_id="d1", description="Look at it", status="completed", result="Fine.")
    facts = with_jobs(job("lead", 1, role="commander", tasks=[task]), role="commander")
    row = ShownStep(action="Look at it", status="completed", result="Fine.")
    card = ShownCard(
        where="card",
        context_id="c",
        card_id="lead",
        role="commander",
        status="completed",
        goal="Report on north",
        steps=[row],
        buttons=["Discuss…"],
    )
    assert found(card, facts) == ""
    assert "it shows 0 tasks, but 1 were" in found(changed(card, steps=[]), facts)
    for field in ("action", "status", "result"):
        other = row.model_copy(update={field: "else"})
        assert "the task “Look at it”" in found(changed(card, steps=[other]), facts)


def test_what_changed_no_file_cannot_be_taken_back() -> None:
    looked = Checkpoint(id="k", job_id="two")
    assert found(SECOND, FACTS.model_copy(update={"checkpoints": [looked]})) == ""


def test_the_role_that_the_user_switched_to_counts_as_well() -> None:
    switch = Message(
        job_id=None,
        task_id=None,
        role="system",
        message_type="role_change",
        text="",
        created_at="2026-01-01T00:01:00Z",
    )
    facts = FACTS.model_copy(update={"role": "reviewer", "messages": [switch]})
    assert found(changed(SECOND, role="reviewer"), facts) == ""
    assert "the role is “tester”" in found(changed(SECOND, role="tester"), facts)


def test_a_record_offers_nothing() -> None:
    record = changed(SECOND, is_record=True, buttons=[])
    assert found(record) == ""
    assert "it offers “Execute plan”" in found(changed(SECOND, is_record=True))


def test_a_card_in_a_copy_of_its_notebook_offers_nothing() -> None:
    facts = FACTS.model_copy(update={"notebook": "a.ipynb"})
    assert found(changed(SECOND, notebook="a.ipynb"), facts) == ""
    complaint = found(changed(FIRST, notebook="copy.ipynb"), facts)
    assert "it offers ['Discuss…', 'Re-plan', 'Changes', 'Roll back…'], but is a copy" in complaint
    assert "its run is of a.ipynb" in complaint
    assert found(changed(FIRST, notebook="copy.ipynb", buttons=[]), facts) == ""


def test_a_saved_card_is_judged_as_of_when_it_was_saved() -> None:
    early = changed(FIRST, status="running", buttons=None, saved_at="2026-01-01T00:00:04Z")
    assert found(early) == ""
    late = changed(early, saved_at="2026-01-01T00:00:59Z")
    assert "the status is “running”" in found(late)
    claims = changed(SECOND, saved_at="2026-01-01T00:00:04Z", lines=["Plan, revision 1: approved"])
    assert "none of its jobs executes a plan" in found(claims)


def notebook(status: str, mark: str) -> dict[str, Any]:
    step = {"id": "1", "action": "Write a", "status": status}
    snapshot = {
        "role": "actor",
        "status": "completed",
        "goal": "g",
        "plan": {"goal": "g", "steps": [step]},
        "tasks": [],
        "messages": [],
    }
    card = {"kind": "run", "context_id": "c", "job_id": "one", "saved_at": "", "snapshot": snapshot}
    markdown = f"**Actor** · g\n\n*completed · 1 s*  \n*now*\n\n1. {mark}Write a"
    outputs = [{"data": {CARD: card, "text/markdown": markdown}}]
    return {"cells": [{"outputs": outputs}, {"cell_type": "markdown"}]}


def test_the_saved_markdown_is_held_to_the_saved_data() -> None:
    assert list(markdown_differences(notebook("completed", "✓ "), "n.ipynb")) == []
    (complaint,) = markdown_differences(notebook("pending", "✓ "), "n.ipynb")
    assert "in its Markdown the steps are ['completed'], in its data ['pending']" in complaint


def test_a_saved_card_is_read_from_its_notebook() -> None:
    (card,) = cards_in(notebook("completed", "✓ "), "n.ipynb")
    assert (card.where, card.card_id, card.role) == ("saved n.ipynb, card 1", "one", "actor")
    assert card.steps == [ShownStep(action="Write a", status="completed")]
    assert card.buttons is None


@pytest.mark.parametrize(
    ("shown", "meant"),
    [
        ("Write report.md", "Write `report.md`"),
        ("See the page", "See [the page](https://example.org)"),
        ("first\nsecond", "1. first\n2. second"),
        ("all that there was ro…", "all that there was room for"),
    ],
)
def test_markdown_and_how_it_is_drawn_are_the_same_words(shown: str, meant: str) -> None:
    assert same(shown, meant)
    assert not same(shown, f"not {meant}")
