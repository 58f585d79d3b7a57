"""The card of a run: small, readable, and fit to be given to others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat.v4
import pytest

from cowork_jupyter.domain.contexts import (
    Context,
    Job,
    JobKind,
    JobStatus,
    StepStatus,
    Task,
    Usage,
)
from cowork_jupyter.domain.effects import DataEffect, DataWarning, FieldState, TableState
from cowork_jupyter.domain.messages import Message, MessageType, TextPart
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.record import Redactor
from cowork_jupyter.record.card import RunCard, run_card
from cowork_jupyter.record.run import RecordedRun, read_run
from cowork_jupyter.store import PlanRevision, Store, Transaction, UserRequest
from tests.quick import each

BEGAN, ENDED = "2026-07-04T14:00:00.000Z", "2026-07-04T14:00:12.000Z"
MAX_SAVED = 20_000
KEY = "sk-abcdefgh12345678"
HOME = Path("/home/ada")
DISCRETION = Redactor([], HOME / "sales", HOME)


def message(text: str, kind: MessageType = MessageType.TEXT, **fields: Any) -> Message:
    known: dict[str, Any] = {"role": "assistant", "agent_role": AgentRole.PLANNER, **fields}
    if known["role"] == "user":
        known["agent_role"] = None
    known["content"] = [TextPart(text=text)] if text else []
    return Message(context_id="ctx_1", job_id="job_1", message_type=kind, **known)


def plan_of(*steps: dict[str, Any]) -> PlanRevision:
    plan = Plan.model_validate({"goal": "Clean sales.csv", "steps": list(steps), "risks": ["slow"]})
    return PlanRevision(context_id="ctx_1", revision=2, plan=plan, made_at=BEGAN)


def run(*messages: Message, **fields: Any) -> RecordedRun:
    job: dict[str, Any] = {
        "id": "job_1",
        "context_id": "ctx_1",
        "status": JobStatus.COMPLETED,
        "usage": Usage(total_tokens=1234),
        "role": AgentRole.PLANNER,
        "request": "Clean sales.csv\nand plot it",
        "created_at": BEGAN,
        "completed_at": ENDED,
        "worked_seconds": 12.0,
        **fields.pop("job", {}),
    }
    known: dict[str, Any] = {"questions": [], "permissions": [], "revision": None, **fields}
    asked = message("Clean sales.csv\nand plot it", role="user")
    context = Context(id="ctx_1", role=AgentRole.PLANNER, model="gpt-5-mini")
    return RecordedRun(seq=7, context=context, job=Job(**job), messages=[asked, *messages], **known)


def card_of(made: RecordedRun, stale: list[str] | None = None) -> RunCard:
    return run_card(made, host="server", model=None, stale=stale or [], redactor=DISCRETION)


def saved(made: RunCard) -> int:
    """Bytes that the card adds to a notebook file."""

    def size(*outputs: Any) -> int:
        make: Any = nbformat.v4
        cell = make.new_code_cell("%%plan\nx", id="c", outputs=list(outputs))
        return len(make.writes(make.new_notebook(cells=[cell])).encode())

    view = {"version_major": 2, "version_minor": 1, "model_id": "0" * 32}
    data = {
        "application/vnd.cowork.card+json": made.card.model_dump(),
        "application/vnd.jupyter.widget-view+json": view,
        "text/markdown": made.markdown,
        "text/plain": made.text,
    }
    return size(_output(data)) - size()


def _output(data: dict[str, Any]) -> Any:
    make: Any = nbformat.v4
    return make.new_output("display_data", data)


def test_it_tells_who_did_what_with_which_result() -> None:
    made = card_of(run(message("The file has **3** columns.")))
    assert made.card.model_dump()["kind"] == "run"
    assert (made.card.model_dump()["context_id"], made.card.model_dump()["job_id"]) == (
        "ctx_1",
        "job_1",
    )
    assert (made.card.model_dump()["role"], made.card.model_dump()["title"]) == (
        "planner",
        "Clean sales.csv",
    )
    snapshot = made.card.model_dump()["snapshot"]
    assert (snapshot["seq"], snapshot["status"], snapshot["model"]) == (
        7,
        "completed",
        "gpt-5-mini",
    )
    assert snapshot["goal"] == "Clean sales.csv\nand plot it"
    assert [one["text"] for one in snapshot["messages"]][1:] == ["The file has **3** columns."]
    assert made.markdown.startswith("**Planner** · Clean sales.csv")
    assert "*completed · 12.0 s · 1,234 tokens · gpt-5-mini*" in made.markdown
    assert "> The file has **3** columns." in made.markdown


def test_it_tells_when_who_asked_and_what_they_decided() -> None:
    asked = message("Execute the plan.", role="user", data={"approved_revision": 2})
    data = {"tool": "execute_command", "resource": "pip list"}
    answer = {"decision": "deny", "scope": "once", "by": "claude-code"}
    permission = UserRequest(
        id="p", context_id="ctx_1", job_id="job_1", data=data, status="denied", answer=answer
    )
    job = {"kind": JobKind.PLAN, "plan_id": "plan_1", "plan_revision": 2}
    made = card_of(run(asked, owner="ada", permissions=[permission], job=job))
    snapshot = made.card.model_dump()["snapshot"]
    assert snapshot["asked_by"] == "ada"
    (decided,) = snapshot["decisions"]
    assert (decided["what"], decided["allowed"]) == ("pip list", False)
    assert decided["by"] == "claude-code"
    day = f"{BEGAN[:10]} {BEGAN[11:16]} UTC"
    assert f"*{day} · asked by ada · revision 2 of the plan was approved*" in made.markdown
    assert [one["by"] for one in snapshot["jobs"]] == ["person"]


def test_a_cell_that_executes_a_plan_where_nobody_is_approves_nothing() -> None:
    job = {"kind": JobKind.PLAN, "plan_id": "plan_1", "plan_revision": 2, "by": "kernel"}
    made = card_of(run(message("A cell executes the plan.", role="user"), job=job))
    assert "revision 2 of the plan was executed by code*" in made.markdown
    assert "approved" not in made.markdown


def test_a_name_that_stands_for_nobody_is_not_told() -> None:
    made = card_of(run(owner="0123456789abcdef" * 2))
    assert made.card.model_dump()["snapshot"]["asked_by"] == ""
    assert "asked by" not in made.markdown


def test_a_plan_is_a_list_that_shows_how_each_step_stands() -> None:
    steps: list[dict[str, Any]] = [
        {"id": "a", "action": "Load it", "files": ["sales.csv"], "status": "completed"},
        {"id": "b", "action": "Plot it", "status": "failed"},
        {"id": "c", "action": "Tell it", "status": "pending"},
    ]
    task = Task(
        job_id="job_1", context_id="ctx_1", step_id="b", status=StepStatus.FAILED, error="no column"
    )
    plan = plan_of(*steps)
    job = {"kind": JobKind.PLAN, "role": AgentRole.ACTOR, "plan_id": plan.plan_id}
    facts = {**job, "plan_revision": 2, "tasks": [task]}
    made = card_of(run(revision=plan, job=facts), stale=["sales.csv"])
    assert "1. ✓ Load it — `sales.csv`\n2. ✗ Plot it — no column\n3. Tell it" in made.markdown
    assert "Risks: slow" in made.markdown
    snapshot = made.card.model_dump()["snapshot"]
    assert [one["status"] for one in snapshot["plan"]["steps"]] == [
        *("completed", "failed", "pending")
    ]
    assert (snapshot["revision"], snapshot["stale"]) == (2, ["sales.csv"])
    assert snapshot["tasks"][0]["error"] == "no column"
    assert made.card.model_dump()["role"] == "actor"


def test_questions_and_permissions_stand_with_their_answers() -> None:
    option = {"label": "Europe", "value": "eu"}
    asked = [
        UserRequest(
            id="q1",
            context_id="ctx_1",
            status="answered",
            data={"question": "Which region?", "options": [option]},
            answer={"value": "eu"},
        ),
        UserRequest(id="q2", context_id="ctx_1", data={"question": "And the year?"}),
    ]
    denied = UserRequest(
        id="p1",
        context_id="ctx_1",
        status="denied",
        data={"tool": "execute_command", "resource": "git push"},
        answer={"decision": "deny", "feedback": "not on Sunday"},
    )
    made = card_of(run(questions=asked, permissions=[denied]))
    assert "- Asked: Which region? → **Europe**" in made.markdown
    assert "- Asked: And the year? → *waits for your answer*" in made.markdown
    assert "`execute_command` `git push` → *denied*: not on Sunday" in made.markdown
    assert [one["id"] for one in made.card.model_dump()["snapshot"]["questions"]] == ["q2"]
    assert made.card.model_dump()["snapshot"]["permissions"] == []


def test_a_question_that_nobody_could_answer_is_told() -> None:
    asked = message("Which region?", MessageType.QUESTION, data={"question": "Which region?"})
    assert "Asked: Which region? *(nobody could answer" in card_of(run(asked)).markdown


def test_what_the_tools_did_is_one_line_and_what_went_wrong_another() -> None:
    def use(number: int, tool: str, path: str, ok: bool) -> list[Message]:
        facts = {"call_id": f"c{number}", "tool": tool}
        result = {**facts, "ok": ok, "summary": f"{tool} said so", "facts": {"paths": [path]}}
        return [
            message("", MessageType.TOOL_CALL, data={**facts, "parameters": {"path": path}}),
            message("long text", MessageType.TOOL_RESULT, role="tool", data=result),
        ]

    made = card_of(run(*use(1, "read_file", "a.py", True), *use(2, "delete_file", "b.py", False)))
    assert "Used `read_file`, `delete_file` on `a.py`\n\n- `delete_file`: delete_file said so" in (
        made.markdown
    )
    results = [
        one for one in made.card.model_dump()["snapshot"]["messages"] if one["role"] == "tool"
    ]
    assert [(one["text"], one["data"]["ok"]) for one in results] == [("", True), ("", False)]


def test_a_failure_says_why() -> None:
    made = card_of(run(job={"status": JobStatus.FAILED, "error": "The key is wrong."}))
    assert "*failed" in made.markdown
    assert "**Error:** The key is wrong." in made.markdown
    assert made.card.model_dump()["snapshot"]["error"] == "The key is wrong."


def test_a_list_in_a_failure_stays_a_list() -> None:
    made = card_of(run(job={"status": JobStatus.FAILED, "error": "I can:\n\n- read\n- write"}))
    assert "**Error:**\n\n> I can:\n>\n> - read\n> - write" in made.markdown


@pytest.mark.parametrize("letter", each(4, ["x", "ü", "語", '"', "\\"]))
def test_a_saved_card_is_small_whatever_the_run_was(letter: str) -> None:
    words = (letter * 7 + " ") * 400
    steps = [
        {"id": f"step-{n}", "action": words, "reason": words, "files": [f"{n}.csv"] * 30}
        for n in range(1, 200)
    ]
    parameters = {f"key{n}": {"deep": [words] * 50} for n in range(5)}
    calls = [
        message("", MessageType.TOOL_CALL, data={"tool": "x", "parameters": parameters})
        for _ in range(20)
    ]
    asking = [
        UserRequest(id=f"q{n}", context_id="ctx_1", data={"question": words}) for n in range(60)
    ]
    shown = {"kind": "command", "text": words}
    called = {"tool": "execute_command", "resource": words, "shown": shown}
    calling = [UserRequest(id=f"p{n}", context_id="ctx_1", data=called) for n in range(60)]
    tasks = [
        Task(job_id="job_1", context_id="ctx_1", step_id=f"step-{n}", result=words)
        for n in range(1, 200)
    ]
    made = card_of(
        run(
            *calls,
            message(words),
            revision=plan_of(*steps),
            questions=asking,
            permissions=calling,
            job={"tasks": tasks, "error": words},
        ),
        stale=[words] * 100,
    )
    assert saved(made) <= MAX_SAVED
    assert made.card.model_dump()["snapshot"]["plan"]["steps_left_out"] > 0


def test_a_plan_of_sixty_steps_is_kept_whole() -> None:
    steps = [
        {"action": f"Step {n}: read part {n} of the data", "reason": "It is needed. " * 10}
        for n in range(1, 61)
    ]
    made = card_of(run(message("", MessageType.PLAN), revision=plan_of(*steps)))
    assert saved(made) <= MAX_SAVED
    assert len(made.card.model_dump()["snapshot"]["plan"]["steps"]) == 60
    assert "\n60. " in made.markdown


def test_nothing_in_it_tells_a_key_or_where_somebody_lives() -> None:
    words = f"The key {KEY} is in /home/ada/sales/.env and /home/ada/notes"
    failing = {"error": words, "status": JobStatus.FAILED}
    made = card_of(
        run(
            message(words),
            message("", MessageType.TOOL_CALL, data={"tool": "x", "parameters": {"a": [words]}}),
            revision=plan_of({"action": words, "files": ["/home/ada/sales/a.csv"]}),
            questions=[UserRequest(id="q", context_id="ctx_1", data={"question": words})],
            job=failing,
        )
    )
    for text in (json.dumps(made.card.model_dump()), made.markdown):
        assert KEY not in text
        assert "/home/ada" not in text
    assert "~/notes" in made.markdown


def test_a_request_that_was_cut_says_so() -> None:
    shown = {"kind": "command", "text": "echo " + "x" * 9_000, "complete": True}
    asked = UserRequest(
        id="p", context_id="ctx_1", data={"tool": "execute_command", "shown": shown}
    )
    (item,) = card_of(run(permissions=[asked])).card.model_dump()["snapshot"]["permissions"]
    assert item["shown"]["complete"] is False
    assert item["id"] == "p"


def test_words_of_the_model_load_and_run_nothing() -> None:
    made = card_of(run(message("<script>alert(1)</script> ![x](http://evil/x.png)")))
    assert "<script" not in made.markdown
    assert "![x]" not in made.markdown


class TestReading:
    @pytest.fixture
    def store(self, tmp_path: Path) -> Any:
        store = Store(tmp_path / "cowork.sqlite")
        yield store
        store.close()

    def test_a_job_has_the_plan_that_it_made_not_a_later_one(self, store: Store) -> None:
        context = Context(id="ctx_1")
        jobs = [
            Job(
                id=f"job_{n}",
                context_id="ctx_1",
                request=f"goal {n}",
                plan_id=f"plan_{n}",
                plan_revision=1,
                created_at=f"2026-07-04T1{n}:00:00.000Z",
            )
            for n in (1, 2)
        ]
        with store.transaction() as tx:
            tx.save_context(context)
            for n, job in enumerate(jobs, start=1):
                tx.save_job(job)
                tx.append_message(
                    message(f"goal {n}", role="user").model_copy(update={"job_id": job.id})
                )
                tx.append_message(
                    message("", MessageType.PLAN).model_copy(update={"job_id": job.id})
                )
                plan = plan_of({"action": f"plan {n}"})
                changed = {"plan_id": f"plan_{n}", "revision": 1}
                tx.save_plan(plan.model_copy(update=changed))
        runs = [read_run(store, one.id) for one in jobs]
        assert [one.revision and one.revision.plan.steps[0].action for one in runs] == [
            *("plan 1", "plan 2")
        ]
        assert [one.goal for one in runs] == ["goal 1", "goal 2"]
        assert [len(one.messages) for one in runs] == [2, 2]
        assert runs[0].seq == runs[1].seq == store.last_message_seq("ctx_1") > 0

    def test_a_job_without_a_plan_shows_none(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.save_context(Context(id="ctx_1"))
            tx.save_plan(plan_of({"action": "of before"}))
            tx.save_job(Job(id="job_1", context_id="ctx_1"))
            tx.append_message(message("Hello", role="user"))
        assert read_run(store, "job_1").revision is None


@pytest.mark.parametrize("before", ["", "> ", "- ", "1. > "])
@pytest.mark.parametrize("opening", ["```mermaid", "~~~ Mermaid", "````  x mermaid"])
def test_no_viewer_draws_a_diagram_of_an_agents_whose_labels_could_load_a_picture(
    opening: str, before: str
) -> None:
    diagram = f"{before}{opening}\nflowchart LR\nA@{{ img: 'http://evil/x.png' }}\n```"
    made = card_of(run(message(diagram)))
    assert "flowchart LR" in made.markdown
    assert "mermaid" not in made.markdown.lower()


class TestManyJobs:
    """One card, several jobs: it shows its own, whatever the step ids of others are."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Any:
        store = Store(tmp_path / "cowork.sqlite")
        yield store
        store.close()

    def planned(self, tx: Transaction, n: int) -> None:
        """A cell that asked for a plan whose step ids are the same in every plan."""
        facts = {"plan_id": f"plan_{n}", "plan_revision": 1, "role": AgentRole.PLANNER}
        tx.save_job(job_at(n, f"made_{n}", request=f"goal {n}", **facts))
        tx.save_plan(self.plan(n))

    def plan(self, n: int, revision: int = 1, status: str = "pending") -> PlanRevision:
        steps = [{"id": "1", "action": "same", "status": status}]
        plan = Plan.model_validate({"goal": f"plan {n}", "steps": steps})
        return PlanRevision(context_id="ctx_1", plan_id=f"plan_{n}", revision=revision, plan=plan)

    def executed(self, tx: Transaction, n: int, at: int, **fields: Any) -> None:
        facts = {"kind": JobKind.PLAN, "plan_id": f"plan_{n}", "plan_revision": 1}
        tx.save_job(job_at(at, f"did_{n}", **{**facts, **fields}))
        task = Task(job_id=f"did_{n}", context_id="ctx_1", step_id="1", description="same")
        tx.save_task(task.model_copy(update={"status": StepStatus.COMPLETED, "result": f"r{n}"}))
        tx.save_plan(self.plan(n, status="completed"))

    def test_the_second_plan_has_nothing_of_the_first_ones_execution(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.save_context(Context(id="ctx_1"))
            self.planned(tx, 1)
            self.executed(tx, 1, at=2)
            self.planned(tx, 2)
        first, second = (read_run(store, f"made_{n}") for n in (1, 2))
        assert [job.id for job in first.jobs] == ["made_1", "did_1"]
        assert (first.role, first.is_plan_ready) == (AgentRole.ACTOR, False)
        assert [task.result for task in first.tasks] == ["r1"]
        assert [job.id for job in second.jobs] == ["made_2"]
        assert (second.role, second.is_plan_ready) == (AgentRole.PLANNER, True)
        assert (second.tasks, second.executions) == ([], [])

    def test_a_new_revision_after_an_execution_waits_for_its_approval(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.save_context(Context(id="ctx_1"))
            self.planned(tx, 1)
            self.executed(tx, 1, at=2, card_id="made_1")
            again = {"card_id": "made_1", "plan_id": "plan_1", "plan_revision": 2}
            tx.save_job(job_at(3, "again", role=AgentRole.PLANNER, **again))
            tx.save_plan(self.plan(1, revision=2))
        run = read_run(store, "made_1")
        assert run.revision is not None
        assert (run.revision.revision, run.is_plan_ready, run.tasks) == (2, True, [])
        assert run.role is AgentRole.PLANNER

    def test_the_card_of_an_execution_keeps_what_it_executed(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.save_context(Context(id="ctx_1"))
            self.planned(tx, 1)
            self.executed(tx, 1, at=2)
            tx.save_plan(self.plan(1, revision=2))  # edited on the plan's own card
        run = read_run(store, "did_1")
        assert run.revision is not None
        assert (run.revision.revision, run.is_plan_ready) == (1, False)
        assert [task.result for task in run.tasks] == ["r1"]


def job_at(hour: int, job_id: str, **fields: Any) -> Job:
    time = f"2026-07-04T1{hour}:00:00.000Z"
    ended = {"status": JobStatus.COMPLETED, "created_at": time, "completed_at": time}
    return Job(id=job_id, context_id="ctx_1", **{**ended, **fields})


def test_a_card_is_as_old_as_what_was_read_for_it() -> None:
    """A quick job may end while its card is being made."""
    assert card_of(run(as_of=BEGAN)).card.saved_at == BEGAN


def effect(number: int) -> DataEffect:
    warning = DataWarning(
        code="x", message=f"Rows of {KEY} " + "lost " * 100, line=3, advice="Look."
    )
    field = FieldState(name="region", type="object")
    state = TableState(rows=12, columns=1, fields=[field] * 50)
    line = f"orders: 12 → {number} rows in {HOME}/sales/x.csv"
    return DataEffect(of="orders", line=line, before=state, after=state, warnings=[warning])


def test_a_card_keeps_the_newest_effects_in_short() -> None:
    card = card_of(run(effects=[effect(number) for number in range(100)]))
    effects = card.card.snapshot.effects
    assert 0 < len(effects) <= 16
    assert effects[-1].line == "orders: 12 → 99 rows in x.csv"
    assert (effects[-1].warnings[0].line, effects[-1].warnings[0].code) == (3, "x")
    saved = card.card.model_dump_json()
    assert "region" not in saved
    assert KEY not in saved
    assert "- orders: 12 → 99 rows in x.csv\n- ⚠ Rows of" in card.markdown
    assert KEY not in card.markdown
