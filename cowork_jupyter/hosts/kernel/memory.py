"""`%cowork memory`: what is remembered of the workspace, what could be, and the user's word."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from ...record.markdown import fenced
from .problem import CellProblem
from .session import KernelSession

_DO_IT = "Keep it: `%cowork memory --keep`. Discard it: `%cowork memory --drop`."
NOTHING = "Nothing is remembered about this workspace yet."


def change_memory(session: KernelSession, arguments: list[str]) -> str | None:
    """Do what the words say, and tell how it stands then; None if they say nothing known."""
    link, cell_id = session.link, session.place.cell_id
    found = link.request("GET", "memory")
    match arguments:
        case []:
            return _overview(found)
        case ["--keep"] | ["--drop"]:
            proposal = _newest(found)
            said = {"decision": arguments[0][2:], "fingerprint": proposal["fingerprint"]}
            address = f"jobs/{proposal['job_id']}/memory"
            return _overview(link.request("POST", address, {**said, "cell_id": cell_id}))
        case ["--forget", *words]:
            given = {"text": " ".join(words), "cell_id": cell_id or ""}
            query = urlencode({name: value for name, value in given.items() if value})
            return _overview(link.request("DELETE", f"memory?{query}" if query else "memory"))
    return None


def _newest(found: dict[str, Any]) -> dict[str, Any]:
    if not found["proposals"]:
        raise CellProblem("There is nothing new to remember.")
    newest: dict[str, Any] = found["proposals"][0]
    return newest


def _overview(found: dict[str, Any]) -> str:
    """The file, and what the newest run would add to it."""
    parts = [fenced(found["text"], "markdown") if found["text"] else NOTHING]
    if not found["enabled"]:
        parts.append("Memory is off: `Cowork.memory` is `off`.")
    elif not found["trusted"]:
        parts.append("Not followed until you trust it: look at it in the Cowork panel.")
    proposals = found["proposals"]
    if proposals:
        older = len(proposals) - 1
        more = " 1 older run has more." if older == 1 else f" {older} older runs have more."
        parts += ["**Remember this?**", fenced(proposals[0]["diff"], "diff")]
        parts.append(_DO_IT + (more if older else ""))
    return "\n\n".join(parts)
