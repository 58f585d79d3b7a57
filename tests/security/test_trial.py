"""`doctor` claims only what a command has just failed to break."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

import pytest

from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.hosts.cli.installation import security_promises
from cowork_jupyter.workspace.sandbox import trial
from cowork_jupyter.workspace.sandbox.guarantees import Guarantee
from cowork_jupyter.workspace.sandbox.sandbox import Launch, Sandbox

from .cage import Cage, sandbox_of


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A home and a Jupyter with something to steal."""
    base = tmp_path / "machine"
    for path in (base / "home" / ".netrc", base / "jupyter" / "token"):
        path.parent.mkdir(parents=True)
        path.write_text("secret")
    monkeypatch.setenv("HOME", str(base / "home"))
    return Settings(base, base / "data", private={base / "jupyter" / "token": frozenset()})


def test_what_is_promised_here_holds(
    cage: Cage, secrets: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "Sandbox", lambda settings: sandbox_of(cage.way, settings))
    broken = trial.try_out(secrets)
    assert [text for name, text in cage.sandbox.guarantees().items() if name in broken] == []
    assert broken <= {"read_only", "processes"}


class NoSandbox(Sandbox):
    @asynccontextmanager
    async def running(self, launch: Launch) -> AsyncIterator[asyncio.subprocess.Process]:  # type: ignore[override]
        yield await asyncio.create_subprocess_exec(*launch.arguments, stdout=launch.output)


def test_without_confinement_nothing_is_claimed(
    secrets: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "Sandbox", NoSandbox)
    assert trial.try_out(secrets) >= set(get_args(Guarantee)) - {"memory", "processes"}
    said = {promise.text: promise.holds for promise in security_promises(secrets)}
    assert sum("does not hold: " in text and not holds for text, holds in said.items()) > 9
    assert "Commands cannot read Jupyter's own secrets." not in said


def test_what_was_left_behind_cannot_write_while_all_is_removed(
    secrets: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    was_there = []

    class Folder(tempfile.TemporaryDirectory[str]):
        def cleanup(self) -> None:
            was_there.append((Path(self.name) / "workspace").exists())
            super().cleanup()

    monkeypatch.setattr(trial, "Sandbox", NoSandbox)
    monkeypatch.setattr(tempfile, "TemporaryDirectory", Folder)
    trial.try_out(secrets)
    assert was_there == [False]


def test_an_attacker_that_cannot_run_proves_nothing(
    secrets: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no')")
    monkeypatch.setattr(trial, "_ATTACKER", broken)
    first, *_ = security_promises(secrets)
    assert not first.holds
    assert "could not be tried, so nothing is promised of it" in first.text
