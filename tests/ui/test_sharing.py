"""Somebody else's notebook, opened: its cards are records, and nothing happens by itself."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from .lab import TOKEN, LabServer
from .person import open_notebook

pytestmark = pytest.mark.slow

CARD, RECORD = "application/vnd.cowork.card+json", "application/vnd.cowork.record+json"


def jobs(lab: LabServer) -> list[str]:
    """All that was ever asked of this server."""
    found = [
        job["id"]
        for context in _get(lab, "context?limit=500")["items"]
        for job in _get(lab, f"context/{context['id']}/jobs")["items"]
    ]
    return sorted(found)


def _get(lab: LabServer, path: str) -> Any:
    address = f"http://127.0.0.1:{lab.port}/cowork/{path}"
    request = urllib.request.Request(address, headers={"Authorization": f"token {TOKEN}"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read())


def share(lab: LabServer, name: str, kind: str) -> int:
    """The cards of one of our notebooks, as they come to somebody else; gives how many."""
    notebook = json.loads((lab.root / "parallel.ipynb").read_text())
    cells = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            card = output.get("data", {}).pop(RECORD, None)
            if card:
                output["data"][kind] = {**card, "host": "server" if kind == CARD else "kernel"}
                cells.append(cell)
    (lab.root / name).write_text(json.dumps({**notebook, "cells": cells}))
    return len(cells)


@pytest.mark.parametrize("kind", [RECORD, CARD], ids=["of a kernel", "of another server"])
def test_finished_cards_are_records_and_nothing_runs_or_is_sent(
    page: Page, lab: LabServer, kind: str
) -> None:
    count = share(lab, "shared.ipynb", kind)
    before, saved = jobs(lab), (lab.root / "shared.ipynb").read_bytes()
    sent: list[str] = []

    def note(request: Request) -> None:
        if "/cowork/" in request.url and request.method != "GET":
            sent.append(f"{request.method} {request.url}")

    page.on("request", note)
    open_notebook(page, lab, "shared.ipynb")
    runs = page.locator(".jp-OutputArea .cw-run")
    expect(runs).to_have_count(count)
    for number in range(count):
        run = runs.nth(number)
        expect(run).to_contain_text("not live here")
        expect(run).to_contain_text("Asked by ada.")
        expect(run).to_contain_text("built-in guide · no language model")
        expect(run.get_by_role("button")).to_have_count(0)
    # A notebook that was run by a program: code executed the plan, and nobody approved it.
    expect(runs.nth(1)).not_to_contain_text("approved")
    assert sent == []
    assert jobs(lab) == before
    assert (lab.root / "shared.ipynb").read_bytes() == saved
