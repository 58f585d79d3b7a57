"""Slash commands: what a user can say that is not a message to the agent."""

from __future__ import annotations

from collections.abc import Iterable

from acp import schema

from ...domain.errors import NotFound
from ...domain.roles import DEFAULT_ROLE, AgentRole
from ...record.markdown import code, line, table
from ...service.service import CoworkService

PLAN, EXECUTE, ROLLBACK, CHECKPOINTS, AUDIT = "plan", "execute", "rollback", "checkpoints", "audit"

_ABOUT = {
    PLAN: ("Plan something, read-only.", "what to plan"),
    EXECUTE: ("Approve and execute the current plan.", ""),
    ROLLBACK: ("Roll back the last run, or everything since a checkpoint.", "checkpoint id"),
    CHECKPOINTS: ("List the checkpoints to go back to.", ""),
    AUDIT: ("Compare the plan with what happened.", ""),
}


def available() -> list[schema.AvailableCommand]:
    return [
        schema.AvailableCommand(name=name, description=what, input=_input(hint))
        for name, (what, hint) in _ABOUT.items()
    ]


def _input(hint: str) -> schema.AvailableCommandInput | None:
    if not hint:
        return None
    return schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint=hint))


def split(text: str) -> tuple[str, str]:
    """The command of a prompt and its argument; an empty command if it is not one of ours."""
    first, _, rest = text.strip().partition(" ")
    name = first.removeprefix("/")
    return (name, rest.strip()) if first.startswith("/") and name in _ABOUT else ("", text)


async def report(service: CoworkService, context_id: str, command: str, rest: str) -> str:
    """Run a command that needs no agent; return its result as Markdown."""
    if command == ROLLBACK:
        return await _roll_back(service, context_id, rest)
    if command == AUDIT:
        return await _audit(service, context_id)
    return await _checkpoints(service, context_id)


async def _roll_back(service: CoworkService, context_id: str, chosen: str) -> str:
    point = chosen or await _before_last_run(service, context_id)
    if service.journal.store.checkpoint(point).context_id != context_id:
        raise NotFound(f"This conversation has no checkpoint '{point}'.")
    undo = await service.checkpoints.finish_interrupted()
    done = await undo.rollback(point)
    partly = {entry.path for entry in done.partly}
    whole = [path for path in done.restored if path not in partly]
    parts = [
        f"Restored: {_codes(whole)}" if whole else "",
        *(f"Restored in part: {code(entry.path)}, {line(entry.why)}" for entry in done.partly),
        f"Removed: {_codes(done.removed)}" if done.removed else "",
        *(f"Stayed as it is: {code(entry.path)}, {line(entry.why)}" for entry in done.skipped),
        *map(line, done.notes),
    ]
    text = "\n".join(f"- {part}" for part in parts if part) or "There was nothing to change."
    made = done.checkpoint_id
    return text + (f"\n\nTo take this back: `/rollback {made}`" if made else "")


async def _before_last_run(service: CoworkService, context_id: str) -> str:
    """The checkpoint before the newest run that has changed anything."""
    kept = await service.checkpoints.listing(context_id)
    changed = {point.job_id for point in kept if point.data.get("files")}
    for job in reversed(service.jobs.of(context_id)):
        for point in kept:
            if point.job_id == job.id and job.id in changed:
                return point.id
    raise NotFound("This conversation has changed nothing, so there is nothing to roll back.")


async def _checkpoints(service: CoworkService, context_id: str) -> str:
    rows = [
        [
            code(record.id),
            record.created_at[:16].replace("T", " "),
            line(str(record.data.get("label", ""))),
            _codes(file["path"] for file in record.data.get("files", [])),
        ]
        for record in await service.checkpoints.listing(context_id)
    ]
    if not rows:
        return "This conversation has no checkpoints yet."
    return table(["Checkpoint", "Time", "Before", "Files"], rows)


def _by(role: AgentRole) -> str:
    return "" if role is DEFAULT_ROLE else f"by the {role} "


async def _audit(service: CoworkService, context_id: str) -> str:
    found = await service.audit(context_id)
    rows = [
        [
            f"{step.number} ({step.status.value})",
            line(step.action),
            _by(step.planned.role) + _codes(step.planned.tools + step.planned.files),
            _codes([tool.tool for tool in step.actual.tools] + step.actual.files)
            + (f" ({step.actual.rounds + 1} rounds)" if step.actual.rounds else ""),
            "; ".join(line(deviation.what) for deviation in step.deviations) or "as planned",
        ]
        for step in found.steps
    ]
    if not rows:
        return "This conversation has no plan yet."
    head = ["Step", "Action", "Planned", "What happened", "Different from the plan"]
    return table(head, rows)


def _codes(names: Iterable[str]) -> str:
    return " ".join(code(name) for name in dict.fromkeys(names))
