"""Which external agents there are: those in the user's own settings, never a folder's."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from pydantic import ValidationError

from ...agents.log import RunLog
from ...agents.run.budget import JobBudget
from ...agents.run.outcome import Outcome
from ...agents.run.tool_environment import ToolEnvironment
from ...domain.errors import NotFound
from ...domain.plan import PlanStep
from ...domain.roles import AgentRole
from ...policy.settings_file import SettingsFile
from .entry import AgentEntry
from .run import ExternalTask

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


class ConfiguredAgents:
    """`{"agents": {"name": {"command", "args", …}}}`, as it is in the file now."""

    def __init__(self, settings: Path | None = None) -> None:
        self._file = SettingsFile(settings) if settings else None

    def all(self) -> dict[str, AgentEntry]:
        found = self._file.content().get("agents", {}) if self._file else {}
        entries = found.items() if isinstance(found, dict) else ()
        read = {name: _read_entry(raw) for name, raw in entries if _NAME.fullmatch(name)}
        return {name: entry for name, entry in read.items() if entry is not None}

    def names(self) -> Collection[str]:
        return self.all().keys()

    async def run(
        self,
        agent: str,
        text: str,
        tools: ToolEnvironment,
        log: RunLog,
        budget: JobBudget,
        step: PlanStep | None = None,
    ) -> Outcome:
        entry = self.all().get(agent)
        if entry is None:
            raise NotFound(f"There is no external agent '{agent}'.", code="unknown_agent")
        return await ExternalTask(tools, entry, agent, log, step).run(text, budget)

    def facts(self, role: AgentRole) -> dict[str, str]:
        names = ", ".join(self.all())
        ways = [
            'delegate takes one as "agent"' if role.spec.delegates_to else "",
            'a step with "agent": "NAME" is executed by that agent'
            if "plan" in role.spec.formats
            else "",
        ]
        how = "; ".join(way for way in ways if way)
        return {"external agents": f"{names} ({how})"} if names and how else {}


def _read_entry(raw: object) -> AgentEntry | None:
    try:
        entry = AgentEntry.model_validate(raw)
    except ValidationError:
        return None
    return entry if entry.command and not entry.disabled else None
