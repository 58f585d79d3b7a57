"""Reads the cards that a saved notebook holds: their data, and the Markdown beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .cards import ShownCard, ShownStep

CARD = "application/vnd.cowork.card+json"
MARKS = {
    "▶": "running",
    "⏸": "waiting",
    "✓": "completed",
    "✗": "failed",
    "–": "skipped",
    "⊘": "cancelled",
}
READY = "plan ready"
SAME_MARK = {"interrupted": "cancelled"}


def cards_in(notebook: dict[str, Any], name: str) -> Iterator[ShownCard]:
    """All cards of a server's runs, from top to bottom."""
    for number, data in enumerate(_outputs(notebook), start=1):
        if data[CARD]["kind"] == "run":
            card = card_of(data[CARD], _markdown(data), f"saved {name}, card {number}")
            yield card.model_copy(
                update={"notebook": name, "saved_at": data[CARD]["saved_at"] or ""}
            )


def markdown_differences(notebook: dict[str, Any], name: str) -> Iterator[str]:
    """Where the Markdown beside a card says otherwise than the card's own data."""
    for number, data in enumerate(_outputs(notebook), start=1):
        if data[CARD]["kind"] == "run":
            where = f"saved {name}, card {number}"
            yield from text_differences(data[CARD], _markdown(data), where)


def text_differences(card: dict[str, Any], text: str, where: str) -> Iterator[str]:
    """Where a card's Markdown says otherwise than its data."""
    role = (re.match(r"\*\*(\w+)\*\*", text) or [""] * 2)[1].lower()
    if role != card["snapshot"]["role"]:
        yield f"{where}: its Markdown is “{role}”'s, its data “{card['snapshot']['role']}”'s"
    state = (re.search(r"^\*(\w+)", text, re.MULTILINE) or [""] * 2)[1]
    if state not in (card["snapshot"]["status"], READY[:4]):
        yield f"{where}: its Markdown says “{state}”, its data “{card['snapshot']['status']}”"
    marks = [MARKS.get(mark, "pending") for mark in re.findall(r"^\d+\. (.)", text, re.MULTILINE)]
    steps = (card["snapshot"]["plan"] or {"steps": []})["steps"]
    meant = [SAME_MARK.get(step["status"], step["status"]) for step in steps]
    if marks != meant[: len(marks)] or bool(marks) != bool(meant):
        yield f"{where}: in its Markdown the steps are {marks}, in its data {meant}"


def _markdown(data: dict[str, Any]) -> str:
    return "".join(data.get("text/markdown", ""))


def _outputs(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if CARD in output.get("data", {}):
                yield output["data"]


def card_of(card: dict[str, Any], markdown: str, where: str) -> ShownCard:
    """What a card shows, as of now. Whether a plan is ready only the Markdown says in words."""
    snapshot = card["snapshot"]
    plan = snapshot["plan"] or {"goal": None, "steps": []}
    results = {task["step_id"]: task for task in snapshot["tasks"]}
    return ShownCard(
        where=where,
        context_id=card["context_id"],
        card_id=card["job_id"],
        role=snapshot["role"],
        status="ready" if f"\n*{READY}" in markdown else snapshot["status"],
        goal=plan["goal"] or snapshot["goal"],
        steps=[_step(step, results.get(step["id"], {})) for step in plan["steps"]]
        or [_step({**task, "action": task["description"]}, task) for task in snapshot["tasks"]],
        said_by_user=[
            one["text"]
            for one in snapshot["messages"]
            if one["role"] == "user" and one["message_type"] == "text" and not one["data"]
        ],
        lines=[_decision(one) for one in snapshot.get("decisions") or []],
        text=markdown,
    )


def _decision(decision: dict[str, Any]) -> str:
    return f"You {'allowed' if decision['allowed'] else 'did not allow'}: {decision['what']}"


def _step(step: dict[str, Any], task: dict[str, Any]) -> ShownStep:
    status = task.get("status", step["status"])
    result = task.get("result") or "" if status == "completed" else ""
    return ShownStep(action=step["action"], status=status, result=result)
