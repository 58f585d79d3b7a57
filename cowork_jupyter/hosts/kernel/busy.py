"""What a cell says, or waits for, while another run of its conversation goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...record.markdown import line
from .addressee import jobs_of
from .output import Note
from .run import ACTIVE, Run
from .session import Context, KernelSession

_MAX_WORDS = 200


def wait_until_free(session: KernelSession, context: Context) -> None:
    """Stay until nothing runs in the conversation any more."""
    for job in jobs_of(session.link, context):
        if job["status"] in ACTIVE:
            Run(session.link, job["id"]).wait()


def note_of_run(session: KernelSession, context: Context) -> Note:
    """That nothing was sent, which run is in the way, what it waits for, and how to go on."""
    running = next((job for job in jobs_of(session.link, context) if job["status"] in ACTIVE), None)
    if running is None:  # it has ended in this very moment
        return Note("**Nothing was sent**: a run was still in progress. Run this cell again.")
    card = session.link.request("GET", f"jobs/{running['id']}/card")["card"]
    return Note(
        f"**Nothing was sent.** {_cell(session, running)} {_what_it_does(card)}\n\n"
        "Then run this cell again. With `--wait`, a cell waits its turn; "
        "`%cowork cancel` stops what runs."
    )


def _what_it_does(card: dict[str, Any]) -> str:
    questions, permissions = card["snapshot"]["questions"], card["snapshot"]["permissions"]
    if questions:
        return f"waits for your answer: {_short(questions[0]['question'])}"
    if permissions:
        preview, resource = permissions[0].get("shown") or {}, permissions[0].get("resource")
        return f"waits for your permission: {_short(str(preview.get('text') or resource or ''))}"
    return f"is still working on: {_short(card['title'])}"


def _cell(session: KernelSession, job: dict[str, Any]) -> str:
    """The cell that began the run, with a link to it; a button may have begun it, too."""
    notebook, cell_id = session.present_place.notebook, job["cell_id"]
    if notebook is None or cell_id is None:
        return "Another run of this conversation"
    number = _number(notebook, cell_id)
    name = f"Cell {number}" if number else "Another cell"
    return f"[{name}]({quote(notebook.name)}#cell-id={quote(cell_id)})"


def _number(notebook: Path, cell_id: str) -> int | None:
    """Its place as people count, if it was saved."""
    try:
        cells = json.loads(notebook.read_bytes())["cells"]
        ids = [cell.get("id") for cell in cells]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return ids.index(cell_id) + 1 if cell_id in ids else None


def _short(words: str) -> str:
    text = " ".join(words.split())
    return line(text if len(text) <= _MAX_WORDS else f"{text[: _MAX_WORDS - 1]}…")
