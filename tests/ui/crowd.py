"""A notebook full of cards, as it is saved after a long day, and what a page with it asks for."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Page, expect

from tests.scripted import Scripted, ScriptedServer, plan, text

from .lab import TOKEN, LabServer
from .person import until_ready

CARDS = 30
PER_PAGE = {"inbox", "health", "roles", "context", "cell-recorder"}
"""What a page asks for itself, each at most once, however many cards it has."""
PILL = re.compile(r"context/\w+/role")
"""Likewise: who gets the next message of the conversation in view."""
SAVES_AT_MS = 2_000
"""By then a card whose run has ended would have asked what the notebook is to keep of it."""


def answers(body: dict[str, Any]) -> Scripted:
    """A plan for whoever wants one; all else is done with a word."""
    said = "\n".join(str(one["content"]) for one in body["messages"])
    wants_plan = "Plan it" in said and "of an approved plan" not in said
    return plan("Do it", "First", "Then") if wants_plan else text("Done.")


@contextmanager
def crowded_lab(folder: Path) -> Iterator[LabServer]:
    """A Lab that draws all cells of a notebook at once, not only those in sight."""
    setting = folder / "settings" / "@jupyterlab" / "notebook-extension"
    setting.mkdir(parents=True)
    (setting / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}))
    with ScriptedServer(answers) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(folder, environment) as lab:
            yield lab


@dataclass(frozen=True)
class Talk:
    """Talks to the agent as a program does, so that cards are there to be looked at."""

    api: httpx.Client

    def context(self, **fields: Any) -> str:
        return str(self.api.post("context", json=fields).raise_for_status().json()["id"])

    def done(self, address: str, body: dict[str, Any]) -> str:
        """Start a job, and give its id when it is over."""
        job = str(self.api.post(address, json=body).raise_for_status().json()["job_id"])
        context = self.api.get(f"jobs/{job}").json()["context_id"]
        after = 0
        while self.api.get(f"jobs/{job}").json()["status"] in ("running", "waiting"):
            query = {"after": after, "timeout": 10}
            events = self.api.get(f"context/{context}/events", params=query).json()["events"]
            after = events[-1]["seq"] if events else after
        return job

    def card(self, job: str) -> dict[str, Any]:
        """What a cell shows of it."""
        made = self.api.get(f"jobs/{job}/card").raise_for_status().json()
        plain = {"text/markdown": made["markdown"], "text/plain": made["text"]}
        return {"application/vnd.cowork.card+json": made["card"], **plain}


def write_cards(lab: LabServer, name: str) -> None:
    """A notebook as it is saved after a long day: messages in one conversation, plans in others,
    some of them carried out.
    """
    address = lab.url("").partition("?")[0]
    login = {"Authorization": f"token {TOKEN}"}
    with httpx.Client(base_url=f"{address}cowork/", headers=login, timeout=60) as client:
        cards = list(made_cards(Talk(client), name))
    cells = [
        {
            "id": f"cell-{at}",
            "cell_type": "code",
            "metadata": {},
            "execution_count": at + 1,
            "source": "%%act\nAgain",
            "outputs": [{"output_type": "display_data", "metadata": {}, "data": made}],
        }
        for at, made in enumerate(cards)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}
    (lab.root / name).write_text(json.dumps(document))


def made_cards(talk: Talk, name: str) -> Iterator[dict[str, Any]]:
    """What the cells show."""
    notebook = talk.context(notebook=name)
    for number in range(CARDS // 3):
        said = {"content": f"Do thing {number}", "role": "actor"}
        yield talk.card(talk.done(f"context/{notebook}/messages", said))
    for number in range(CARDS - CARDS // 3):
        context = talk.context(notebook=name, role="planner")
        job = talk.done(f"context/{context}/messages", {"content": f"Plan it {number}"})
        if number % 2:
            talk.done(f"context/{context}/plan/execute", {"revision": 1})
        yield talk.card(job)


class Traffic:
    """What a page asks our part of the server, and over how many sockets."""

    def __init__(self, page: Page) -> None:
        self.sockets: list[str] = []
        self.requests = Counter[str]()
        page.on("websocket", lambda socket: self._note_socket(socket.url))
        page.on("request", lambda request: self._note(request.url))

    def _note_socket(self, url: str) -> None:
        if "/cowork/" in url:
            self.sockets.append(urlsplit(url).path)

    def _note(self, url: str) -> None:
        path = urlsplit(url).path
        if path.startswith("/cowork/"):
            self.requests[path.removeprefix("/cowork/")] += 1


def until_live(page: Page, count: int) -> None:
    """Every card has heard from the server: before that, there is nothing to click."""
    expect(page.locator(".cw-run").get_by_role("button", name="Discuss…")).to_have_count(count)


def reloaded(page: Page) -> Traffic:
    """What the page asks when it is loaded again, until nothing more can come by itself."""
    traffic = Traffic(page)
    page.reload()
    until_ready(page)
    until_live(page, CARDS)
    page.wait_for_timeout(SAVES_AT_MS)
    return traffic
