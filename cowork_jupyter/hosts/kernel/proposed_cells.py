"""Cells that an agent wanted to insert into a notebook which it could not reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_REFUSED = "open_elsewhere"


@dataclass(frozen=True)
class ProposedCell:
    """A cell that waits to be inserted."""

    call_id: str
    source: str
    """As a code cell holds it, since no other kind can be asked for."""


def proposed_cells(messages: Sequence[dict[str, Any]], notebook: str | None) -> list[ProposedCell]:
    """The cells that were refused in a conversation for this notebook, oldest first."""
    calls = {
        message["data"]["call_id"]: message["data"] for message in _of_type(messages, "tool_call")
    }
    found = []
    for message in _of_type(messages, "tool_result"):
        result = message["data"]
        call, error = calls.get(result["call_id"]), result.get("error") or {}
        if call is None or call["tool"] != "insert_cell" or error.get("code") != _REFUSED:
            continue
        if error["details"]["notebook"] == notebook:
            found.append(ProposedCell(result["call_id"], _as_code(call["parameters"])))
    return found


def _of_type(messages: Sequence[dict[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    return (message for message in messages if message["message_type"] == kind)


def _as_code(parameters: dict[str, Any]) -> str:
    source = str(parameters["source"])
    return f"%%markdown\n{source}" if parameters.get("cell_type") == "markdown" else source
