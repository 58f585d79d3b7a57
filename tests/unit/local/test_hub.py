"""What the hub says about a file, and what if it does not."""

from __future__ import annotations

import hashlib
import socket

import httpx
import pytest

from cowork_jupyter.domain.errors import CoworkError, NotFound, Unavailable
from cowork_jupyter.local.catalogue import CATALOGUE
from cowork_jupyter.local.hub import published

from .publisher import CONTENT, WANTED, Publisher


def test_size_and_checksum_are_the_publishers(publisher: Publisher, client: httpx.Client) -> None:
    found = published(WANTED, client, f"{publisher.address}/")
    assert (found.size, found.sha256) == (len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
    assert found.address.startswith(f"{publisher.address}/{WANTED.repository}/resolve/main/")


def test_a_file_without_a_checksum_is_not_downloaded(
    publisher: Publisher, client: httpx.Client
) -> None:
    publisher.sha256 = ""
    with pytest.raises(CoworkError, match="no checksum") as failed:
        published(WANTED, client, publisher.address)
    assert failed.value.code == "no_checksum"


def test_a_hub_without_the_model(publisher: Publisher, client: httpx.Client) -> None:
    with pytest.raises(NotFound, match="404"):
        published(CATALOGUE[1], client, publisher.address)


def test_a_hub_that_cannot_be_reached_says_how_to_name_another(client: httpx.Client) -> None:
    with socket.socket() as deaf:  # bound, so that nobody else is there; but it does not listen
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(Unavailable, match="HF_ENDPOINT"):
            published(WANTED, client, f"http://127.0.0.1:{deaf.getsockname()[1]}")


def test_something_else_that_answers(
    publisher: Publisher, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "listing", lambda: {"welcome": "to the hotel's network"})
    with pytest.raises(Unavailable, match="not answer like a model hub"):
        published(WANTED, client, publisher.address)
