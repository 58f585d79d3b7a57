"""A user who allows everything, for tests that are about something else."""

from __future__ import annotations

from cowork_jupyter.agents.ask.user import PermissionRequest, Ruling
from cowork_jupyter.agents.log import RunLog


class Agreeable:
    """Decides at once, and always the same way."""

    async def decide(self, _request: PermissionRequest, _log: RunLog) -> Ruling:
        return Ruling(decision="allow")
