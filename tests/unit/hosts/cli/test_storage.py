"""`jupyter cowork storage`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import Context, Job
from cowork_jupyter.domain.identity import now
from cowork_jupyter.domain.messages import Message, TextPart
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.hosts.config import Cowork
from cowork_jupyter.store import CheckpointRecord, Store

from .terminals import run_here as run


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Cowork().settings(workspace=tmp_path)


def made(settings: Settings, title: str, updated_at: str = "", text: str = "hello") -> Context:
    """A conversation in the record that the command opens."""
    with Store(settings.database) as store:
        context = store.save_context(Context(title=title))
        with store.transaction() as tx:
            said = Message(context_id=context.id, role="user", content=[TextPart(text=text)])
            tx.append_message(said)
            tx.save_checkpoint(CheckpointRecord(id=f"p-{context.id}", context_id=context.id))
            if updated_at:
                tx.save_context(context.model_copy(update={"updated_at": updated_at}))
    return context


def shown(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run("storage", "--json", *options) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def titles(found: dict[str, Any]) -> list[str]:
    return [one["title"] for one in found["conversations"]]


def test_a_conversation_in_which_nothing_was_said_takes_no_room(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(settings.database) as store:
        store.save_context(Context(title="empty"))
    (empty,) = shown(capsys)["conversations"]
    assert (empty["title"], empty["bytes"]) == ("empty", 0)
    assert run("storage") == 0


def test_it_shows_what_takes_room_the_largest_first(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    made(settings, "small")
    made(settings, "large", text="word " * 4_000)
    found = shown(capsys)
    assert titles(found) == ["large", "small"]
    large, small = found["conversations"]
    assert large["messages"] == 1
    assert 20_000 < large["bytes"] < 25_000
    assert small["bytes"] < 2_000
    assert found["database"]["bytes"] == settings.database.stat().st_size
    assert run("storage") == 0
    said = capsys.readouterr().out
    assert "large (ctx" in said
    assert "Checkpoints: 0 B of at most" in said


def test_old_ones_are_deleted_and_the_file_shrinks(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    made(settings, "old", "2020-01-01T00:00:00.000Z", text="word " * 100_000)
    made(settings, "new")
    before = shown(capsys)["database"]["bytes"]
    assert run("storage", "--free", "--older-than", "30") == 2
    assert "Add --yes to delete 1 conversation." in capsys.readouterr().err
    after = shown(capsys, "--free", "--older-than", "30", "--yes")
    assert titles(after) == ["new"]
    assert after["database"]["bytes"] < before / 2
    assert after["database"]["free"] == 0


def test_one_can_be_named_but_not_while_it_works(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = made(settings, "one"), made(settings, "two")
    with Store(settings.database) as store:
        with store.transaction() as tx:
            tx.save_job(Job(context_id=two.id))
        assert run("storage", "--free", "--context", two.id, "--yes") == 1
        assert "Stop it first" in capsys.readouterr().err
    assert titles(shown(capsys, "--free", "--context", one.id, "--yes")) == ["two"]
    assert run("storage", "--free", "--context", "nope", "--yes") == 1
    assert "There is no context 'nope'." in capsys.readouterr().err


def test_checkpoints_can_go_alone(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    one = made(settings, "one")
    assert titles(shown(capsys, "--free", "--checkpoints", "--yes")) == ["one"]
    with Store(settings.database) as store:
        assert store.checkpoints(one.id) == []
        assert len(store.messages(one.id).items) == 1


def test_copies_of_older_versions_are_counted_and_can_go(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    made(settings, "one")
    copy = settings.database.with_name(f"{settings.database.name}.v7.bak")
    copy.write_bytes(b"old" * 100)
    assert shown(capsys)["database"]["copies"] == 300
    assert run("storage") == 0
    assert "Backups of older versions: 300 B" in capsys.readouterr().out
    assert run("storage", "--free", "--copies") == 2
    assert "Add --yes to delete the backups of older versions." in capsys.readouterr().err
    assert shown(capsys, "--free", "--copies", "--yes")["database"]["copies"] == 0
    assert not copy.exists()
    assert settings.database.exists()


def test_what_was_used_meanwhile_stays(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = made(settings, "old", "2020-01-01T00:00:00.000Z")
    made(settings, "older", "2019-01-01T00:00:00.000Z")

    def use_it(*_: object) -> None:
        with Store(settings.database) as store, store.transaction() as tx:
            tx.save_context(store.context(old.id).model_copy(update={"updated_at": now()}))

    monkeypatch.setattr("cowork_jupyter.hosts.cli.storage._confirm", use_it)
    assert titles(shown(capsys, "--free", "--older-than", "30")) == ["old"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--older-than", "3"), "Add --free"),
        (("--copies",), "Add --free"),
        (("--free", "--older-than", "-3"), "number of days"),
        (("--free", "--older-than", "3", "--context", "c"), "either"),
    ],
)
def test_what_makes_no_sense_is_said(
    options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("storage", *options) == 2
    assert said in capsys.readouterr().err
