"""The widget that carries every card."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cowork_jupyter.domain.errors import NotFound
from cowork_jupyter.kernel.card import STATIC, Card


async def respond(method: str, path: str, body: Any) -> Any:
    if path == "missing":
        raise NotFound("There is nothing at this address.")
    if path == "broken":
        raise ZeroDivisionError("oops")
    return {"asked": [method, path, body]}


@pytest.fixture
def card() -> Card:
    return Card({"kind": "status"}, "**Planner** · tidy up", respond)


async def ask(card: Card, monkeypatch: pytest.MonkeyPatch, **request: Any) -> Any:
    sent: list[Any] = []
    monkeypatch.setattr(card, "send", sent.append)
    card._handle_custom_msg(request, [])
    while not sent:
        await asyncio.sleep(0)
    return sent[0]


def test_a_card_also_has_a_form_for_readers_without_a_kernel(card: Card) -> None:
    data, _metadata = card._repr_mimebundle_()
    assert data["text/markdown"] == data["text/plain"] == "**Planner** · tidy up"
    assert "application/vnd.jupyter.widget-view+json" in data


@pytest.mark.asyncio
async def test_a_request_is_answered_under_its_number(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await ask(card, monkeypatch, id=7, method="GET", path="health", body=None)
    assert answer == {"id": 7, "status": 200, "body": {"asked": ["GET", "health", None]}}


@pytest.mark.asyncio
async def test_a_failure_is_answered_with_the_contracts_error(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await ask(card, monkeypatch, id=1, method="GET", path="missing", body=None)
    assert answer["status"] == 400
    assert answer["body"]["error"]["code"] == "not_found"


@pytest.mark.asyncio
async def test_a_failure_of_ours_is_answered_too(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await ask(card, monkeypatch, id=1, method="GET", path="broken", body=None)
    assert answer["status"] == 500
    assert answer["body"]["error"]["code"] == "internal"


def test_all_cards_share_one_small_script() -> None:
    assert (STATIC / "card.js").stat().st_size <= 60_000
