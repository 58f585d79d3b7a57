"""What a card should show, as rules in plain words, and how a card differs from that.

1. A card's own jobs are those that name it, and the executions of the plan they made. The present
   one is the one that runs, else the last.
2. Role and status are the present job's; a role the user switched to later counts as well.
3. The plan is the one its own jobs made last, at its newest revision; a card that only executes
   one shows the revision it executes. A step stands as executions of that revision left it; where
   there was none, as the plan itself says, and a step counts as done only if an execution of this
   very plan did it. Where there is no plan, each task that was delegated has a row.
4. Execute plan: a revision that nobody has executed. Continue: what was begun and is not
   done. Stop: while it runs. Discuss…, Re-plan: when it does not. Changes, Roll
   back…: its own jobs changed files. While another job of the conversation runs, a card offers
   nothing.
5. Nobody's instructions to an agent stand there. What stands there as the user's words, as
   approved or as allowed, was said, approved or allowed by the user, in one of the card's own
   jobs; and what was decided is told.
6. A card in a copy of its notebook is a record: it offers nothing, and shows how things stood.
7. An agent's words on the screen are those of a stored message: nothing that was shown is lost
   with the page. What was said outside of steps stands there, and of a reply that ended early
   also that it did.
8. What waits for the user in one of its own jobs can be answered there, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .cards import ShownCard, ShownStep, same, words
from .facts import BESIDES, Facts, Job, Plan, Step, Task

BUTTONS = ("Execute plan", "Continue", "Stop", "Edit steps", "Discuss…", "Re-plan")
TAKING_BACK = ("Changes", "Roll back…")
INSTRUCTIONS = ("your task is step", "of an approved plan", "you are operating in")
"""Words that only agents should read."""
DONE = ("completed", "skipped")
_COMPARED, _PAGE = 60, 40
"""Letters of a message that are compared, and messages beyond which a card folds the oldest."""
_DRAWN = re.compile(r"[$<\[`{|]")
"""What is drawn otherwise than it is written."""


@dataclass(frozen=True)
class Judged:
    """A card beside what the server says of its jobs."""

    card: ShownCard
    facts: Facts

    @cached_property
    def own(self) -> list[Job]:
        return self.facts.of_card(self.card.card_id)

    @cached_property
    def present(self) -> Job:
        told = [job for job in self.own if job.kind not in BESIDES] or self.own
        return next((job for job in told if not job.is_over), told[-1])

    @cached_property
    def plan(self) -> Plan | None:
        made = [job for job in self.own if job.plan_id and job.kind not in BESIDES]
        if not made:
            return None
        only_executes = all(job.kind == "plan" for job in made)
        revision = made[-1].plan_revision if only_executes else None
        return self.facts.plan(made[-1].plan_id or "", revision)

    @cached_property
    def executions(self) -> list[Job]:
        """Of this plan, whatever its revision."""
        plan_id = self.plan.id if self.plan else None
        return [job for job in self.own if job.kind == "plan" and job.plan_id == plan_id]

    @property
    def can_execute(self) -> bool:
        revisions = {job.plan_revision for job in self.executions}
        return self.plan is not None and self.plan.revision not in revisions

    @property
    def is_ready(self) -> bool:
        """Whether the plan is what the card is about now: nothing runs, nothing has gone wrong
        since it was made."""
        well = self.present.kind == "plan" or self.present.status == "completed"
        return self.present.is_over and well and self.can_execute

    @property
    def is_done(self) -> bool:
        return (
            all(self.status_of(step) in DONE for step in self.plan.plan.steps)
            if self.plan
            else True
        )

    def task_of(self, step: Step) -> Task | None:
        """What was done for a step when this revision was executed; the last time counts."""
        revision = self.plan.revision if self.plan else None
        runs = [job for job in self.executions if job.plan_revision == revision]
        tasks = [task for job in runs for task in job.tasks if task.step_id == step.id]
        return tasks[-1] if tasks else None

    def status_of(self, step: Step) -> str:
        task = self.task_of(step)
        return step.status if task is None else self.standing(task)

    def standing(self, task: Task) -> str:
        """A task that waits for the user is one that runs."""
        waiting = {one.task_id for one in [*self.facts.questions, *self.facts.permissions]}
        return "waiting" if task.status == "running" and task.id in waiting else task.status

    @property
    def is_copy(self) -> bool:
        """Whether it stands in another notebook than the one it was made in, whose name may have
        changed since."""
        homes = {self.own[0].notebook, self.facts.notebook} - {None}
        here = self.card.notebook
        return here is not None and bool(homes) and here not in homes

    @property
    def is_as_of_now(self) -> bool:
        """Whether nothing has happened since the card was written down."""
        saved = self.card.saved_at
        if saved is None:
            return True
        ids = {job.id for job in self.own}
        moments = [job.completed_at or job.created_at for job in self.own]
        moments += [one.created_at for one in self.facts.messages if one.job_id in ids]
        moments += [self.plan.made_at or ""] if self.plan else []
        return self.present.is_over and saved > max(moments)


def differences(card: ShownCard, facts: Facts) -> list[str]:
    """What this card shows otherwise than it is, in words; nothing when all is well."""
    judged = Judged(card, facts)
    if not judged.own:
        return [
            f"{card.where}: the server knows no job of this card, and it is not drawn as a record"
        ]
    rules = [_user_words, _approvals]
    if judged.is_copy:
        rules += [_buttons]
    elif judged.is_as_of_now:
        rules += [_role, _status, _goal, _steps, _said, _decisions, _requests, _buttons]
    return [f"{card.where}: {found}" for rule in rules for found in rule(judged)]


def _role(judged: Judged) -> Iterator[str]:
    card, present = judged.card, judged.present
    switched = [
        one
        for one in judged.facts.messages
        if one.message_type == "role_change" and one.created_at > present.created_at
    ]
    allowed = {present.role} | ({judged.facts.role} if switched else set())
    if card.role not in allowed:
        yield f"the role is {_named(card.role)}, but its job is the {present.role}'s"


def _status(judged: Judged) -> Iterator[str]:
    present = judged.present
    meant = "ready" if judged.is_ready else present.status
    waits = present.status == "running" and any(
        one.job_id == present.id for one in [*judged.facts.questions, *judged.facts.permissions]
    )
    if judged.card.status not in ({meant, "waiting"} if waits else {meant}):
        yield f"the status is {_named(judged.card.status)}, but should be {_named(meant)}"


def _goal(judged: Judged) -> Iterator[str]:
    if judged.card.is_editing:
        return
    meant = judged.plan.plan.goal if judged.plan else judged.own[0].request
    if not same(judged.card.goal, meant):
        yield f"the goal is {_named(judged.card.goal)}, but should be {_named(meant)}"


def _steps(judged: Judged) -> Iterator[str]:
    shown = judged.card.steps
    if judged.card.is_editing:
        return
    if judged.plan is None:
        yield from _delegations(judged)
        return
    meant = judged.plan.plan.steps
    if len(shown) != len(meant):
        yield f"it shows {len(shown)} steps, but its plan has {len(meant)}"
        return
    for row, step in zip(shown, meant, strict=True):
        yield from _step(judged, row, step)


def _step(judged: Judged, row: ShownStep, step: Step) -> Iterator[str]:
    at, task, status = f"step {step.step_number}", judged.task_of(step), judged.status_of(step)
    if not same(row.action, step.action):
        yield f"{at} is {_named(row.action)}, but should be {_named(step.action)}"
    # What is saved need not say that a step at work waits for the user: the question does.
    if row.status != status and (judged.card.is_on_screen or not task or row.status != task.status):
        yield f"{at} is {_named(row.status)}, but should be {_named(status)}"
    if row.status == "completed" and not _was_done(judged, step):
        yield f"{at} counts as done, but no execution of this plan did it"
    result = task.result or "" if task and status == "completed" else ""
    if task and not same(row.result, result):
        yield f"{at} has the result {_named(row.result)}, but should have {_named(result)}"


def _delegations(judged: Judged) -> Iterator[str]:
    shown, tasks = judged.card.steps, [task for job in judged.own for task in job.tasks]
    if len(shown) != len(tasks):
        yield f"it shows {len(shown)} tasks, but {len(tasks)} were delegated"
        return
    for row, task in zip(shown, tasks, strict=True):
        at = f"the task {_named(task.description)}"
        if not same(row.action, task.description):
            yield f"{at} is {_named(row.action)}"
        if row.status not in {judged.standing(task), task.status if judged.card.saved_at else ""}:
            yield f"{at} is {_named(row.status)}, but should be {_named(judged.standing(task))}"
        if task.status == "completed" and not same(row.result, task.result or ""):
            yield f"{at} has the result {_named(row.result)}, not {_named(task.result or '')}"


def _was_done(judged: Judged, step: Step) -> bool:
    tasks = (task for job in judged.executions for task in job.tasks)
    return any(task.step_id == step.id and task.status == "completed" for task in tasks)


def _buttons(judged: Judged) -> Iterator[str]:
    card, there = judged.card, judged.card.buttons
    if there is None or card.is_editing:
        return
    offered = [name for name in (*BUTTONS, *TAKING_BACK) if name in there]
    if judged.is_copy:
        if offered:
            yield f"it offers {offered}, but is a copy: its run is of {judged.facts.notebook}"
        return
    meant = _meant_buttons(judged)
    for name in BUTTONS:
        if name in there and name not in meant:
            yield f"it offers {_named(name)}, but should not"
        if name in meant and name not in there:
            yield f"it does not offer {_named(name)}, but should"
    ids = {job.id for job in judged.own} if not card.is_record else set()
    changed = any(one.job_id in ids and one.files for one in judged.facts.checkpoints)
    for name in TAKING_BACK:
        if name in there and not (changed or (ids and judged.executions)):
            yield f"it offers {_named(name)}, but its jobs changed nothing"
        if name not in there and changed and not judged.facts.is_busy:
            yield f"it does not offer {_named(name)}, but its jobs changed something"


def _meant_buttons(judged: Judged) -> set[str]:
    if judged.card.is_record:
        return set()
    if not judged.present.is_over:
        return {"Stop"}
    if judged.facts.is_busy:
        return set()
    buttons = {"Discuss…"}
    if judged.plan:
        buttons |= {"Re-plan"} | (set() if judged.is_done else {"Edit steps"})
    begun = judged.present.status != "completed" or (judged.executions and not judged.is_done)
    return buttons | ({"Execute plan"} if judged.can_execute else {"Continue"} if begun else set())


def _user_words(judged: Judged) -> Iterator[str]:
    ids = {job.id for job in judged.own}
    said = [job.request for job in judged.own]
    said += [
        one.text
        for one in judged.facts.messages
        if one.job_id in ids and one.role == "user" and one.message_type == "text"
    ]
    for part in INSTRUCTIONS:
        if words(part) in words(judged.card.text):
            yield f"it shows instructions for an agent: {_named(part)}"
    for text in judged.card.said_by_user:
        if not any(same(text, one) for one in said):
            yield f"it shows as the user's words what nobody said in its jobs: {_named(text)}"


def _approvals(judged: Judged) -> Iterator[str]:
    approved = [one for one in judged.card.lines if re.search(r"^You approved|: approved$", one)]
    executed = sum(job.kind == "plan" for job in judged.own)
    if len(approved) > executed:
        yield f"it says {_named(approved[0])}, but {executed or 'none'} of its jobs executes a plan"


def _said(judged: Judged) -> Iterator[str]:
    shown = judged.card.said_by_agents
    if shown is None or judged.card.is_editing:
        return
    ids = {job.id for job in judged.own}
    said = [
        one
        for one in judged.facts.messages
        if one.job_id in ids and one.role == "assistant" and one.message_type == "text"
    ]
    first = [one.text.strip().partition("\n")[0] for one in said]
    known = ["" if _DRAWN.search(line) else words(line)[:_COMPARED] for line in first]
    for text in shown if not judged.card.is_record else []:
        if not any(beginning in words(text) for beginning in known):
            yield f"it shows words of an agent that no message holds: {_named(text)}"
    everything = words(" ".join(shown))
    for one in said:
        is_plain = not one.task_id and not _DRAWN.search(one.text)
        if is_plain and words(one.text)[:_COMPARED] not in everything and len(shown) < _PAGE:
            yield f"it does not show what was said: {_named(one.text)}"
        if one.data.get("cut") and not one.task_id and "stoppedhere" not in everything:
            yield f"it does not say that this reply ended early: {_named(one.text)}"


def _decisions(judged: Judged) -> Iterator[str]:
    """Those of steps are in the log of their step, which is drawn only once it is opened."""
    ids = {job.id for job in judged.own}
    decided = [one for one in judged.facts.decisions if one.job_id in ids and not one.task_id]
    told = [words(one) for one in judged.card.lines]
    for one in decided if judged.card.is_on_screen else []:
        meant = words(f"You {'allowed' if one.allowed else 'did not allow'}: {one.words}")
        if not any(line.startswith(meant[:120]) for line in told):
            yield f"it does not say what the user decided about {_named(one.words)}"
    for line in judged.card.lines:
        known = any(words(one.words) in words(line) for one in judged.facts.decisions)
        if words(line).startswith(("youallowed", "youdidnotallow")) and not known:
            yield f"it says {_named(line)}, but the user decided nothing like it"


def _requests(judged: Judged) -> Iterator[str]:
    ids = {job.id for job in judged.own}
    card, facts = judged.card, judged.facts
    for what, shown, asked in (
        ("question", card.questions, facts.questions),
        ("permission", card.permissions, facts.permissions),
    ):
        if shown is None or card.is_record:
            continue
        meant = [one.words for one in asked if one.job_id in ids]
        told = words(" ".join(shown))
        if len(shown) != len(meant) or not all(words(one)[:200] in told for one in meant):
            yield f"it asks for the {what}s {shown}, but {meant} wait in its jobs"


def _named(text: str) -> str:
    return f"“{text if len(text) <= 120 else text[:119] + '…'}”"
