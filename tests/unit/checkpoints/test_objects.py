"""Contents on their way into the store."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from cowork_jupyter.checkpoints import objects
from cowork_jupyter.checkpoints.objects import Batch
from cowork_jupyter.checkpoints.store import CheckpointDatabase

from .conftest import Site

CONTENTS = [b"content %d" % number for number in range(1000)]


@pytest.fixture
def storing(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """A few contents count as many; gives the threads that stored some."""
    found: list[threading.Thread] = []
    store = Batch._store

    def noted(self: Batch, contents: objects.Contents) -> None:
        found.append(threading.current_thread())
        store(self, contents)

    monkeypatch.setattr(objects, "MAX_PENDING", 300)
    monkeypatch.setattr(Batch, "_store", noted)
    return found


def test_many_contents_are_stored_while_more_are_gathered(
    site: Site, storing: list[threading.Thread]
) -> None:
    with site.store.objects.batch() as batch:
        digests = [batch.add(content) for content in (*CONTENTS, *CONTENTS[:5])]
    here = threading.current_thread()
    assert [one is here for one in storing] == [False, False, False, True]
    assert [site.content(digest) for digest in digests] == [*CONTENTS, *CONTENTS[:5]]


@pytest.mark.usefixtures("storing")
def test_what_could_not_be_stored_meanwhile_is_told(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: CheckpointDatabase) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with pytest.raises(sqlite3.OperationalError), site.store.objects.batch() as batch:  # noqa: PT012
        monkeypatch.setattr(CheckpointDatabase, "transaction", full)
        for content in CONTENTS[:400]:
            batch.add(content)
