"""Whatever users do, in whatever order: cards, jobs, plans and the record tell the same story.

A machine takes random actions against a real server, whose model answers by a mark in what it is
asked (`[[write]]`): no reply depends on what came before, so that every walk can be repeated.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeVar

import httpx
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.scripted import Scripted, ScriptedServer, call, text
from tests.ui.judge.cards import ShownCard
from tests.ui.judge.facts import Facts, Job, Plan, Read, UserRequest, facts_of
from tests.ui.judge.rules import differences
from tests.ui.judge.saved import card_of, text_differences

from .live import TOKEN, live_server

pytestmark = pytest.mark.slow

T = TypeVar("T")
PATIENCE = 60.0
MARK = re.compile(r"\[\[(\w+) (\d+)\]\]")
STEP = re.compile(r"^The step: .*$", re.MULTILINE)
PLAN_AS_JSON = re.compile(r'^\{"type": ?"plan".*$', re.MULTILINE)
KINDS = ("say", "write", "ask", "fail")
AT_WORK = ("running", "waiting")
ROLES = ("planner", "actor", "reviewer")


def answer(body: dict[str, Any]) -> Scripted:
    """What the model says to the last mark it was told."""
    said = [(one["role"], PLAN_AS_JSON.sub("", str(one["content"]))) for one in body["messages"]]
    marked = [at for at, (role, words) in enumerate(said) if role == "user" and MARK.search(words)]
    if not marked:
        return text("Well.")
    words = said[marked[-1]][1]
    if "Re-plan from here" in words:
        return _plan("say", "0")
    step = STEP.search(words)
    kind, number = MARK.findall(step[0] if step else words)[-1]
    has_answered = any(role == "assistant" for role, _ in said[marked[-1] :])
    if kind in ("write", "ask") and not has_answered:
        question = {
            "type": "question",
            "question": "Which?",
            "options": [_option("a"), _option("b")],
        }
        path = f"file{number}.txt"
        return (
            text(json.dumps(question))
            if kind == "ask"
            else call("create_file", path=path, content="x")
        )
    if kind in ("plan", "replan"):
        return _plan(KINDS[int(number) % len(KINDS)], number)
    if kind == "fail" and step:
        result = {"type": "result", "format_version": "1.0", "status": "failed", "summary": "No."}
        return text(json.dumps(result))
    return text(f"Done with {kind} {number}.")


def _option(name: str) -> dict[str, str]:
    return {"label": name.upper(), "value": name, "description": ""}


def _plan(kind: str, number: str) -> Scripted:
    """Two steps, which every plan calls “1” and “2”; beyond the plan there is something to ask."""
    steps = [
        {"id": "1", "action": f"Say something [[say {number}]]", "tools_needed": [], "files": []},
        {"id": "2", "action": f"Then {kind} [[{kind} {number}]]", "tools_needed": [], "files": []},
    ]
    return text(json.dumps({"type": "plan", "goal": f"Goal {number}", "steps": steps}))


Place = st.integers(0, 9)
"""Which of those there are: counted from the beginning again when there are fewer."""


class Walk(RuleBasedStateMachine):
    """What a user may do over HTTP."""

    server: httpx.Client

    @initialize()
    def begin(self) -> None:
        self.number = 0
        self.known: dict[str, Facts] = {}
        """By conversation, as of the last action."""
        self.touched: set[str] = set()
        self.new_context()

    @precondition(lambda self: len(self.known) == 1)
    @rule()
    def new_context(self) -> None:
        made = self._send("POST", "context", {"role": "planner"}, 201)
        self._learn(made["id"])

    @rule(which=Place, kind=st.sampled_from([*KINDS[:3], "plan", "plan"]))
    def message(self, which: int, kind: str) -> None:
        context = _one(which, sorted(self.known))
        role = "planner" if kind == "plan" else "actor"
        self._start(context, "messages", {"content": self._marked(kind), "role": role})

    @precondition(lambda self: self._jobs())
    @rule(which=Place)
    def discuss_a_card(self, which: int) -> None:
        """Of any job: about its plan, if it has one."""
        job = _one(which, self._jobs())
        words = self._marked("replan" if job.plan_id else "say")
        role = "planner" if job.plan_id else job.role
        body = {"content": words, "role": role, "card_id": job.card_id}
        self._start(job.context_id, "messages", body)

    @precondition(lambda self: self._plans())
    @rule(which=Place)
    def edit_a_plan(self, which: int) -> None:
        context, plan = _one(which, self._plans())
        raw = self._read(f"context/{context}/plan?plan_id={plan.id}")["plan"]
        raw["steps"][0]["action"] += " carefully"
        body = {"plan": raw, "plan_id": plan.id, "revision": plan.revision}
        status = 409 if self.known[context].is_busy else 200
        self._send("PUT", f"context/{context}/plan", body, status)
        self._learn(context)

    @precondition(lambda self: self._plans())
    @rule(which=Place, on_a_card=st.booleans())
    def execute_a_plan(self, which: int, on_a_card: bool) -> None:
        """Any of them, in any order."""
        context, plan = _one(which, self._plans())
        made = [job.card_id for job in self.known[context].jobs if job.plan_id == plan.id]
        body = {"plan_id": plan.id, "revision": plan.revision}
        self._start(
            context, "plan/execute", {**body, **({"card_id": made[0]} if on_a_card else {})}
        )

    @precondition(lambda self: self._asked("questions"))
    @rule(which=Place, option=Place)
    def answer_a_question(self, which: int, option: int) -> None:
        context, asked = _one(which, self._asked("questions"))
        questions = self._read(f"context/{context}/questions")["items"]
        options = next(one["options"] for one in questions if one["id"] == asked.id)
        self._send(
            "POST", f"questions/{asked.id}/answer", {"value": _one(option, options)["value"]}
        )
        self._learn(context)

    @precondition(lambda self: self._asked("permissions"))
    @rule(which=Place, decision=st.sampled_from(["allow", "deny"]))
    def decide_on_a_permission(self, which: int, decision: str) -> None:
        context, asked = _one(which, self._asked("permissions"))
        self._send("POST", f"permissions/{asked.id}", {"decision": decision, "scope": "once"})
        self._learn(context)

    @precondition(lambda self: self._jobs("waiting"))
    @rule(which=Place)
    def cancel(self, which: int) -> None:
        job = _one(which, self._jobs("waiting"))
        self._send("POST", f"jobs/{job.id}/cancel", {})
        self._learn(job.context_id)

    @precondition(lambda self: self._jobs("cancelled", "failed"))
    @rule(which=Place)
    def resume(self, which: int) -> None:
        """Not while another job runs, and not if the plan has been changed since."""
        job = _one(which, self._jobs("cancelled", "failed"))
        facts = self.known[job.context_id]
        newest = facts.plan(job.plan_id) if job.plan_id and job.kind == "plan" else None
        stale = newest is not None and newest.revision != job.plan_revision
        status = 409 if facts.is_busy or stale else 202
        self._send("POST", f"jobs/{job.id}/resume", {}, status)
        self._learn(job.context_id)

    @rule(which=Place, role=st.sampled_from(ROLES), confirm=st.booleans())
    def switch_role(self, which: int, role: str, confirm: bool) -> None:
        context = _one(which, sorted(self.known))
        status = 409 if self.known[context].is_busy and not confirm else 200
        self._send("POST", f"context/{context}/role", {"role": role, "confirm": confirm}, status)
        self._learn(context)

    @precondition(lambda self: len(self.known) > 1)
    @rule(which=Place)
    def delete(self, which: int) -> None:
        context = _one(which, sorted(self.known))
        self._send("DELETE", f"context/{context}", None, 204)
        for job in self.known.pop(context).jobs:
            self._send("GET", f"jobs/{job.id}/card", None, 404)

    @invariant()
    def all_tell_the_same(self) -> None:
        for context in sorted(self.touched & self.known.keys()):
            found = list(disagreements(self.known[context], self._read))
            assert not found, "\n".join(found)
        self.touched.clear()

    def _jobs(self, *statuses: str) -> list[Job]:
        every = [job for context in sorted(self.known) for job in self.known[context].jobs]
        return [job for job in every if not statuses or job.status in statuses]

    def _plans(self) -> list[tuple[str, Plan]]:
        return [
            (context, newest)
            for context, facts in sorted(self.known.items())
            for plan_id in sorted({plan.id for plan in facts.plans})
            if (newest := facts.plan(plan_id))
        ]

    def _asked(self, what: Literal["questions", "permissions"]) -> list[tuple[str, UserRequest]]:
        return [
            (context, one)
            for context, facts in sorted(self.known.items())
            for one in (facts.questions if what == "questions" else facts.permissions)
        ]

    def _marked(self, kind: str) -> str:
        self.number += 1
        return f"Please [[{kind} {self.number}]]"

    def _start(self, context: str, what: str, body: dict[str, Any]) -> None:
        status = 409 if self.known[context].is_busy else 202
        self._send("POST", f"context/{context}/{what}", body, status)
        self._learn(context)

    def _learn(self, context: str) -> None:
        """How it stands once whatever runs has ended, or waits for the user."""
        give_up = time.monotonic() + PATIENCE
        while not self._is_settled(f"context/{context}"):
            assert time.monotonic() < give_up, "a job neither ends nor waits"
            time.sleep(0.02)
        self.known[context] = facts_of(context, self._read)
        self.touched.add(context)

    def _is_settled(self, place: str) -> bool:
        jobs = [Job.model_validate(one) for one in self._read(f"{place}/jobs")["items"]]
        active = [job for job in jobs if not job.is_over]
        if not active:
            return True
        asked = [
            one["task_id"]
            for what in ("questions", "permissions")
            for one in self._read(f"{place}/{what}")["items"]
        ]
        tasks = {task.id for job in active for task in job.tasks if task.status in AT_WORK}
        return active[0].status == "waiting" and bool(asked) and tasks <= set(asked)

    def _read(self, address: str) -> Any:
        return self._send("GET", address, None)

    def _send(self, method: str, address: str, body: Any, status: int = 200) -> Any:
        answered = self.server.request(method, address, json=body)
        assert answered.status_code == status, (method, address, body, answered.text)
        return answered.json() if answered.content else None


def _one(which: int, things: Sequence[T]) -> T:
    return things[which % len(things)]


def disagreements(facts: Facts, read: Read) -> Iterator[str]:
    """Where one account of a conversation differs from another."""
    place = f"context/{facts.context_id}"
    for job in facts.jobs:
        shown = read(f"jobs/{job.id}/card")
        if job.card_id == job.id:
            yield from differences(_card(shown, job), facts)
            yield from text_differences(shown["card"], shown["markdown"], job.id)
        asked = [one for one in [*facts.questions, *facts.permissions] if one.job_id == job.id]
        if (job.status == "waiting") != bool(asked) and job.status != "interrupted":
            yield f"{job.id} is {job.status} with {len(asked)} things to decide"
        if job.kind == "plan" and job is _last_execution(facts, job):
            audit = read(f"{place}/audit?job_id={job.id}")
            told = {step["id"]: step["status"] for step in audit["steps"]}
            for task in job.tasks:
                if told.get(task.step_id) != task.status:
                    yield f"the audit of {job.id} says {told}, a task {task.model_dump()}"
    for one in read(f"{place}/plans")["items"]:
        revisions = read(f"{place}/plan/revisions?plan_id={one['id']}")["items"]
        if [each["revision"] for each in revisions] != list(range(1, one["revision"] + 1)):
            yield f"the revisions of {one['id']} are not 1 to {one['revision']}"
    ids = {job.id for job in facts.jobs}
    yield from (
        f"a message belongs to {said.job_id}, which is no job of its conversation"
        for said in facts.messages
        if said.job_id is not None and said.job_id not in ids
    )


def _last_execution(facts: Facts, job: Job) -> Job:
    """The audit is of a revision: what executed it last counts."""
    same = (job.plan_id, job.plan_revision)
    return [
        one for one in facts.jobs if one.kind == "plan" and (one.plan_id, one.plan_revision) == same
    ][-1]


def _card(shown: dict[str, Any], job: Job) -> ShownCard:
    return card_of(shown["card"], shown["markdown"], f"the card of {job.id}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with ScriptedServer(answer) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with live_server(tmp_path_factory.mktemp("walk"), environment=environment) as running:
            headers = {"Authorization": f"token {TOKEN}"}
            with httpx.Client(base_url=running.api, headers=headers, timeout=PATIENCE) as client:
                yield client


def test_whatever_users_do_cards_jobs_plans_and_record_agree(server: httpx.Client) -> None:
    Walk.server = server
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=6,
            stateful_step_count=20,
            deadline=None,
            phases=[Phase.generate],  # shrinking would take longer than reading 20 lines
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
