"""What confines commands on this machine."""

from __future__ import annotations

import pytest

from cowork_jupyter.workspace import sandbox
from cowork_jupyter.workspace.sandbox import available_sandbox, landlock_version


def machine(monkeypatch: pytest.MonkeyPatch, *, landlock: int, bubblewrap: bool) -> None:
    monkeypatch.setattr(sandbox, "landlock_version", lambda: landlock)
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/bwrap" if bubblewrap else None)


def test_landlock_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, landlock=3, bubblewrap=True)
    assert available_sandbox("auto") == "landlock"
    assert available_sandbox("bubblewrap") == "bubblewrap"
    assert available_sandbox("none") == "none"


def test_bubblewrap_is_next(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, landlock=0, bubblewrap=True)
    assert available_sandbox("auto") == "bubblewrap"


def test_a_choice_that_is_not_here_is_not_pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, landlock=0, bubblewrap=False)
    assert {available_sandbox("auto"), available_sandbox("landlock")} == {"none"}


def test_asking_the_kernel_never_fails() -> None:
    assert landlock_version() >= 0
