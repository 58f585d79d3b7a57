"""Notices when a step does something that its plan does not say.

Looking is always fine. A small deviation (another file, another way of writing) is
mentioned and goes on; a large one (deleting, running) asks first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..domain.errors import Forbidden
from ..domain.events import EventType
from ..domain.plan import PlanStep
from ..domain.replies import Option, Question
from ..domain.roles import Permission
from ..tools.base import Tool
from ..tools.registry import ToolRegistry
from .log import RunLog
from .user import User

_LARGE = frozenset({Permission.DELETE_FILES, Permission.EXECUTE_COMMANDS})
_ALLOW, _DENY = "allow", "deny"


class Deviation(StrEnum):
    """How far a call is from the plan."""

    NONE = "none"
    SMALL = "small"
    LARGE = "large"


def judge(step: PlanStep, tool: Tool, parameters: Mapping[str, Any]) -> Deviation:
    """Hold one call against its step."""
    changes = tool.permissions - {Permission.READ_FILES}
    if not changes:
        return Deviation.NONE
    if not is_planned(step, tool):
        return Deviation.LARGE if changes & _LARGE else Deviation.SMALL
    path = parameters.get("path")
    if step.files and isinstance(path, str) and _plain(path) not in map(_plain, step.files):
        return Deviation.SMALL
    return Deviation.NONE


def is_planned(step: PlanStep, tool: Tool) -> bool:
    """Whether the step names the tool, or all permissions beyond reading that it needs."""
    named = set(step.tools_needed)
    changes = {str(one) for one in tool.permissions - {Permission.READ_FILES}}
    return tool.name in named or (bool(changes) and changes <= named)


def _plain(path: str) -> str:
    return path.removeprefix("./").strip("/")


@dataclass(frozen=True)
class PlanWatch:
    """Watches the calls of one step."""

    step: PlanStep
    registry: ToolRegistry
    user: User
    log: RunLog

    async def __call__(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Mention a small deviation; ask about a large one, and refuse what the user refuses."""
        tool = self.registry.get(name)
        deviation = judge(self.step, tool, parameters) if tool else Deviation.NONE
        if deviation is Deviation.NONE:
            return
        what = f"Step {self.step.step_number} uses {name}, which goes beyond its plan."
        data = {"code": "deviation", "size": deviation.value, "tool": name, "message": what}
        self.log.event(EventType.NOTICE, data)
        if deviation is Deviation.LARGE and not await self._allowed(what, parameters):
            raise Forbidden(
                f"{name} is not part of the approved step, and the user did not allow it. "
                "Go on without it, or say why the step cannot be done.",
                code="not_in_plan",
            )

    async def _allowed(self, what: str, parameters: Mapping[str, Any]) -> bool:
        question = Question(
            question=f"{what} Allow it?",
            context=", ".join(f"{key}: {value}" for key, value in parameters.items()),
            severity="major",
            options=[
                Option(label="Allow this once", value=_ALLOW),
                Option(label="Do not allow it", value=_DENY),
            ],
            default=_DENY,
        )
        return await self.user.ask(question, self.log) == _ALLOW
