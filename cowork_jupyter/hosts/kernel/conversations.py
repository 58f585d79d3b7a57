"""What magics look up about a conversation: roles, jobs, the open plan, cells to insert."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...domain.role_view import RoleLook
from ...domain.roles import DEFAULT_ROLE, AgentRole
from .link import CellProblem, Link
from .session import Context


def role_named(link: Link, name: str) -> str:
    """Raises CellProblem with the closest name if there is no such role."""
    roles = [role["name"] for role in link.request("GET", "roles")["items"]]
    if name in roles:
        return name
    near = difflib.get_close_matches(name.lower(), roles, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else f"Roles: {', '.join(roles)}"
    raise CellProblem(f"There is no role '{name}'. {hint}")


def role_look(link: Link, name: str) -> RoleLook:
    """Label and colours of a role, even of one that no longer exists."""
    roles = link.request("GET", "roles")["items"]
    role = next((role for role in roles if role["name"] == name), None)
    return RoleLook.model_validate(role) if role else RoleLook.look(AgentRole(name))


def role_in(context: Context | None) -> str:
    """Who gets the next message."""
    return str(context["role"] if context else DEFAULT_ROLE.value)


def card_of_open_plan(link: Link, context: Context) -> str | None:
    """The job that made the current plan; None once that plan was executed."""
    plan = link.request("GET", f"context/{context['id']}/plan")
    made_by: str | None = None
    for job in jobs_of(link, context):
        if plan["plan"] is None or job["plan_id"] != plan["plan"]["id"]:
            continue
        if job["kind"] != "plan":
            made_by = job["id"]
        elif job["plan_revision"] == plan["revision"]:
            return None
    return made_by


def jobs_of(link: Link, context: Context) -> list[dict[str, Any]]:
    """Oldest first."""
    items: list[dict[str, Any]] = link.request("GET", f"context/{context['id']}/jobs")["items"]
    return items


_REFUSED = "open_elsewhere"


@dataclass(frozen=True)
class ProposedCell:
    """A cell that an agent could not insert, because the notebook was open elsewhere."""

    call_id: str
    source: str
    """As code, since the front end can insert only code cells."""


def proposed_cells(messages: Sequence[dict[str, Any]], notebook: str | None) -> list[ProposedCell]:
    """Cells refused for this notebook, oldest first."""
    calls = {
        message["data"]["call_id"]: message["data"] for message in _of_type(messages, "tool_call")
    }
    cells = []
    for message in _of_type(messages, "tool_result"):
        result = message["data"]
        call, error = calls.get(result["call_id"]), result.get("error") or {}
        if call is None or call["tool"] != "insert_cell" or error.get("code") != _REFUSED:
            continue
        if error["details"]["notebook"] == notebook:
            cells.append(ProposedCell(result["call_id"], _as_code(call["parameters"])))
    return cells


def _of_type(messages: Sequence[dict[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    return (message for message in messages if message["message_type"] == kind)


def _as_code(parameters: dict[str, Any]) -> str:
    source = str(parameters["source"])
    return f"%%markdown\n{source}" if parameters.get("cell_type") == "markdown" else source
