"""The judge behind every browser test: cards must show what happened.

`judge` compares every card in every tab, and in the saved notebooks, with what the server says of
its jobs. Cards follow events, so it looks again until all is right, or has not become right for
long enough.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

from playwright.sync_api import BrowserContext, Error, Page

from ..lab import TOKEN
from .cards import ShownCard
from .facts import Facts, Read, facts_of
from .rules import differences
from .saved import cards_in, markdown_differences
from .screen import cards_on

PATIENCE = 20.0
"""Seconds after which a card has had time enough to show what has happened."""

JUPYTER = "() => document.querySelector('#jupyter-config-data') !== null"


def judge(tabs: BrowserContext, since: float) -> list[str]:
    """What the cards of these tabs, and of notebooks saved since then, show otherwise than it is.

    What was saved before is another test's, which has judged it: one that fails should not make
    those after it fail, too.
    """
    give_up = time.monotonic() + PATIENCE
    while found := _found(tabs, since):
        if time.monotonic() > give_up:
            break
        tabs.pages[0].wait_for_timeout(250)
    return found


def _found(tabs: BrowserContext, since: float) -> list[str]:
    pages = [page for page in tabs.pages if _is_of_jupyter(page)]
    cards: dict[str, list[ShownCard]] = {}
    found: list[str] = []
    for number, page in enumerate(pages, start=1):
        cards.setdefault(_origin(page), []).extend(cards_on(page, f"tab {number}"))
    for origin in cards:
        try:
            for name, notebook in _notebooks(origin, since):
                cards[origin] += cards_in(notebook, name)
                found += markdown_differences(notebook, name)
            found += _compared(cards[origin], partial(_read, f"{origin}cowork/"))
        except (urllib.error.URLError, ConnectionError) as error:
            if isinstance(error, urllib.error.HTTPError):
                raise
            continue  # the test has stopped its server: there is nobody to compare with
    return found


def _compared(cards: list[ShownCard], read: Read) -> list[str]:
    known: dict[str, Facts | None] = {}
    found = []
    for card in cards:
        if card.context_id not in known:
            known[card.context_id] = _facts(card.context_id, read)
        facts = known[card.context_id]
        if facts is not None:
            found += differences(_of_its_card(card, facts), facts)
        elif card.saved_at is None and not card.is_record:
            found.append(f"{card.where}: the server knows no such run, but it is not a record")
    return found


def _of_its_card(card: ShownCard, facts: Facts) -> ShownCard:
    """A cell that was run again may show a job that an earlier card has begun."""
    begun = next((job.card_id for job in facts.jobs if job.id == card.card_id), card.card_id)
    return card.model_copy(update={"card_id": begun})


def _facts(context_id: str, read: Read) -> Facts | None:
    try:
        return facts_of(context_id, read)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def _is_of_jupyter(page: Page) -> bool:
    try:
        return bool(page.url.startswith("http") and page.evaluate(JUPYTER))
    except Error:
        return False


def _origin(page: Page) -> str:
    parts = urlsplit(page.url)
    return f"{parts.scheme}://{parts.netloc}/"


def _notebooks(origin: str, since: float, folder: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        listed = _read(origin, f"api/contents/{quote(folder)}")["content"]
    except urllib.error.HTTPError as error:
        if folder and error.code == 404:  # gone since the folder around it was listed
            return
        raise
    for one in listed:
        if one["type"] == "directory":
            yield from _notebooks(origin, since, one["path"])
        elif one["type"] == "notebook" and _moment(one["last_modified"]) >= since:
            yield one["path"], _read(origin, f"api/contents/{quote(one['path'])}")["content"]


def _moment(written: str) -> float:
    return datetime.fromisoformat(written).timestamp()


def _read(origin: str, address: str) -> Any:
    headers = {"Authorization": f"token {TOKEN}"}
    with urllib.request.urlopen(
        urllib.request.Request(f"{origin}{address}", headers=headers), timeout=60
    ) as answer:
        return json.loads(answer.read())
