"""MCP servers of others: their tools, resources and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from ...domain.health import DoctorFinding
    from ...domain.settings import Settings
    from ...service.parts import ForeignServersNeeds
    from .foreign import McpForeignServers


def _servers(settings: Settings, needs: ForeignServersNeeds) -> McpForeignServers:
    from .foreign import McpForeignServers
    from .servers import servers_of

    return McpForeignServers(
        servers_of(settings, needs.trust, needs.pins, needs.model, needs.observe)
    )


def _examine(settings: Settings) -> DoctorFinding:
    from .doctor import examine_servers

    return examine_servers(settings)


PART = Part(foreign_servers=_servers, routes=f"{__name__}.routes", doctor_check=_examine)
