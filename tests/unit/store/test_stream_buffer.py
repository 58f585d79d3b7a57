"""Streamed text: soon, in pieces, in order, and never lost."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.domain.events import Event, ReasoningStreamed, TextStreamed
from cowork_jupyter.store import Store, StoreError
from cowork_jupyter.store import journal as streaming
from cowork_jupyter.store.journal import Journal

from .appending import notice

PATIENCE = 30.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cowork.sqlite"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    store = Store(path)
    store.save_context(Context(id="c"))
    store.save_context(Context(id="other"))
    journal = Journal(lambda: store)
    yield journal
    journal.close()


def write(journal: Journal, *texts: str, context: str = "c") -> None:
    for text in texts:
        journal.stream(TextStreamed, text, context, "j", None)


def told(events: list[Event]) -> list[tuple[str, str]]:
    return [(str(one.type), getattr(one.data, "text", "")) for one in events]


def wait_until(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def text_of(journal: Journal, context: str = "c") -> str:
    return "".join(text for _, text in told(journal.store.events(context)))


def test_what_is_written_is_stored_soon_and_by_itself(journal: Journal) -> None:
    write(journal, "Hello")
    wait_until(lambda: text_of(journal) == "Hello")


def test_the_first_words_wait_for_nobody_and_nobody_waits_for_them(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "PIECE_SECONDS", PATIENCE)
    journal.stream(TextStreamed, "now", "c", "j", None, at_once=True)
    assert text_of(journal) == "now"
    elsewhere = sqlite3.connect(path, isolation_level=None)
    elsewhere.execute("BEGIN IMMEDIATE")
    before = time.monotonic()
    journal.stream(TextStreamed, " later", "c", "j", None, at_once=True)
    assert time.monotonic() - before < PATIENCE / 6
    assert text_of(journal) == "now"
    elsewhere.execute("ROLLBACK")
    elsewhere.close()
    journal.record("c", notice())
    assert text_of(journal) == "now later"


def test_what_comes_within_a_moment_becomes_one_event(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(journal, "first")
    wait_until(lambda: text_of(journal) == "first")
    monkeypatch.setattr(streaming, "PIECE_SECONDS", PATIENCE)
    write(journal, *"abc")
    journal.stream(ReasoningStreamed, "hm", "c", "j", None)
    write(journal, *"def")
    journal.record("c", notice())
    assert told(journal.store.events("c"))[1:-1] == [
        *(("text-delta", "abc"), ("reasoning-delta", "hm"), ("text-delta", "def")),
    ]


def test_the_log_keeps_the_order_in_which_things_were_said(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "PIECE_SECONDS", PATIENCE)
    for number in range(50):
        write(journal, f"{number} ")
        journal.record("c", notice())
    events = journal.store.events("c")
    assert [one.seq for one in events] == list(range(1, 101))
    assert [text.strip() for _, text in told(events)[::2]] == [str(n) for n in range(50)]


def test_a_transaction_that_fails_loses_no_text(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "PIECE_SECONDS", PATIENCE)
    write(journal, "a")
    wait_until(lambda: text_of(journal) == "a")
    write(journal, "b")
    with pytest.raises(ZeroDivisionError), journal.transaction():
        raise ZeroDivisionError
    assert text_of(journal) == "a"
    journal.record("c", notice())
    assert text_of(journal) == "ab"


def test_text_of_a_conversation_that_was_deleted_holds_up_no_other(journal: Journal) -> None:
    with journal.transaction() as tx:
        tx.delete_context("other")
    write(journal, "lost", context="other")
    write(journal, "kept")
    wait_until(lambda: text_of(journal) == "kept")


def test_many_threads_write_and_each_word_is_stored_once(journal: Journal) -> None:
    def work(context: str) -> None:
        for number in range(200):
            write(journal, f"{number},", context=context)
            if number % 7 == 0:
                journal.record(context, notice())

    threads = [threading.Thread(target=work, args=(one,)) for one in ("c", "other")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    whole = "".join(f"{number}," for number in range(200))
    wait_until(lambda: text_of(journal) == whole and text_of(journal, "other") == whole)


def test_while_another_process_writes_the_text_waits_and_reading_goes_on(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_TRY_AGAIN", 0.01)
    journal.record("c", notice())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with journal.store._database.alone() as connection:
        connection.execute("PRAGMA busy_timeout=20")
    write(journal, "patient")
    assert len(journal.store.events("c")) == 1
    time.sleep(0.1)
    write(journal, " text")  # which raises nothing
    other.execute("COMMIT")
    other.close()
    wait_until(lambda: text_of(journal) == "patient text")


def test_who_writes_on_is_told_that_the_disk_is_full(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_TRY_AGAIN", 0.01)
    with journal.store._database.alone() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages + 1}")
    write(journal, "x" * 100_000)

    def is_told() -> bool:
        try:
            write(journal, "y")
        except StoreError as error:
            return error.code == "store_full"
        return False

    wait_until(is_told)
    with journal.store._database.alone() as connection:
        connection.execute("PRAGMA max_page_count=1000000")
    wait_until(lambda: text_of(journal).startswith("x" * 100_000))


def test_closing_stores_what_is_left(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(journal, "a")
    wait_until(lambda: text_of(journal) == "a")
    monkeypatch.setattr(streaming, "PIECE_SECONDS", PATIENCE)
    write(journal, "b")
    journal.close()
    with Store(path) as store:
        assert "".join(text for _, text in told(store.events("c"))) == "ab"
