"""Whom a message is for, and which plan it is about."""

from __future__ import annotations

import difflib
from typing import Any

from ...domain.role_view import RoleLook
from ...domain.roles import DEFAULT_ROLE, AgentRole
from .link import Link
from .problem import CellProblem
from .session import Context


def role_named(link: Link, name: str) -> str:
    """The role of that name, or a problem that says which one may be meant."""
    known = [role["name"] for role in link.request("GET", "roles")["items"]]
    if name in known:
        return name
    near = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else f"Roles: {', '.join(known)}"
    raise CellProblem(f"There is no role '{name}'. {hint}")


def role_look(link: Link, name: str) -> RoleLook:
    """What a role is called and how it looks, also one that there is no more."""
    known = (role for role in link.request("GET", "roles")["items"] if role["name"] == name)
    found = next(known, None)
    return RoleLook.model_validate(found) if found else RoleLook.look(AgentRole(name))


def role_in(link: Link, context: Context | None) -> str:
    """Who gets the next message: whom the user has chosen since, or else who worked last."""
    if context is None:
        return str(DEFAULT_ROLE.value)
    return str(link.request("GET", f"context/{context['id']}/role")["role"])


def card_of_open_plan(link: Link, context: Context) -> str | None:
    """The job that made the current plan, while that is not executed: one can still revise it."""
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
    """All jobs of a conversation, oldest first."""
    items: list[dict[str, Any]] = link.request("GET", f"context/{context['id']}/jobs")["items"]
    return items
