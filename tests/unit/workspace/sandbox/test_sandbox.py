"""What confines commands on this machine, and what is said about it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.workspace.sandbox import sandbox
from cowork_jupyter.workspace.sandbox.guarantees import (
    SandboxCapabilities,
    guarantees,
    missing_guarantees,
)
from cowork_jupyter.workspace.sandbox.landlock import handled_files, landlock_version
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox, available_sandbox

pytestmark = pytest.mark.process

SETTINGS = Settings(workspace=Path("/ws"), data_dir=Path("/data"))


def machine(monkeypatch: pytest.MonkeyPatch, *, landlock: int, bubblewrap: bool) -> None:
    program = "/usr/bin/bwrap" if bubblewrap else None
    monkeypatch.setattr(sandbox, "landlock_version", lambda: landlock)
    monkeypatch.setattr(sandbox, "bubblewrap_program", lambda: program)


def test_landlock_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, landlock=3, bubblewrap=True)
    assert available_sandbox("auto") == "landlock"
    assert available_sandbox("bubblewrap") == "bubblewrap"
    assert available_sandbox("none") == "none"


def test_bubblewrap_is_next(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, landlock=0, bubblewrap=True)
    assert available_sandbox("auto") == "bubblewrap"
    assert available_sandbox("landlock") == "none"


def test_a_choice_that_is_not_here_is_not_pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, landlock=0, bubblewrap=False)
    assert available_sandbox("auto") == "none"
    assert available_sandbox("landlock") == "none"
    assert available_sandbox("bubblewrap") == "none"


def test_asking_the_kernel_never_fails() -> None:
    assert landlock_version() >= 0


@pytest.mark.parametrize(
    ("version", "bits"), [(1, 13), (2, 14), (3, 15), (4, 15), (5, 16), (9, 16)]
)
def test_an_old_kernel_is_asked_only_for_what_it_knows(version: int, bits: int) -> None:
    assert handled_files(version) == (1 << bits) - 1


def capabilities(
    kind: str = "landlock",
    landlock: int = 7,
    own: bool = False,
    seccomp: bool = True,
    watches: bool = True,
) -> SandboxCapabilities:
    return SandboxCapabilities(kind, landlock, "user" if own else "", seccomp, watches, root=False)


def test_nothing_is_promised_without_a_sandbox() -> None:
    assert not guarantees(capabilities("none", 0), SETTINGS)
    assert "every command asks" in missing_guarantees(capabilities("none", 0))[0]


@pytest.mark.parametrize(("system", "remedy"), [("linux", "bubblewrap"), ("darwin", "Only Linux")])
def test_only_what_would_help_is_advised(system: str, remedy: str) -> None:
    (said,) = missing_guarantees(capabilities("none", 0), system)
    assert remedy in said
    assert ("bubblewrap" in said) == (system == "linux")


def test_a_new_kernel_that_allows_all_misses_nothing() -> None:
    assert missing_guarantees(capabilities(own=True)) == []


@pytest.mark.parametrize(
    ("machine", "gap"),
    [
        (capabilities(), "permissions and timestamps"),
        (capabilities(), "it can write git's hooks and settings"),
        (capabilities(), "packages of an environment in the workspace"),
        (capabilities(landlock=2), "truncate files"),
        (capabilities(landlock=1), "cannot move files between folders"),
        (capabilities(landlock=5), "send signals"),
        (capabilities(landlock=5, own=True), "send signals"),
        (capabilities(landlock=5, own=True, watches=False), "abstract sockets"),
        (capabilities("bubblewrap", 0), "abstract sockets"),
        (capabilities("bubblewrap", 0), "local sockets of your other programs"),
        (capabilities(own=True, watches=False), "local sockets of your other programs"),
        (capabilities(seccomp=False), "only TCP is blocked"),
        (capabilities(landlock=3, seccomp=False), "Network access cannot be blocked"),
    ],
)
def test_what_is_missing_is_said(machine: SandboxCapabilities, gap: str) -> None:
    assert any(gap in said for said in missing_guarantees(machine))


def test_what_cannot_be_held_is_not_promised() -> None:
    weak = " ".join(guarantees(capabilities(landlock=3, seccomp=False), SETTINGS).values())
    assert "network" not in weak
    assert "signals" not in weak
    assert "sockets" not in weak
    strong = " ".join(guarantees(capabilities(own=True), SETTINGS).values())
    assert all(word in strong for word in ("no network", "signals", "sockets"))


def test_root_is_told_that_processes_are_not_counted() -> None:
    root = SandboxCapabilities("landlock", 7, "root", seccomp=True, watches_sockets=True, root=True)
    assert "processes" in " ".join(missing_guarantees(root))
    assert "processes" not in " ".join(guarantees(root, SETTINGS).values())


@pytest.mark.parametrize(
    ("choice", "may_write", "asked", "allowed"),
    [
        ("ask", True, True, True),
        ("ask", True, False, False),
        ("allow", True, False, True),
        ("deny", True, True, False),
        ("ask", False, True, False),
        ("allow", False, True, False),
    ],
)
def test_read_only_roles_have_no_network(
    choice: str, may_write: bool, asked: bool, allowed: bool
) -> None:
    settings = Settings(workspace=Path("/ws"), data_dir=Path("/d"), sandbox_network=choice)  # type: ignore[arg-type]
    sandbox = Sandbox(settings)
    assert sandbox.allows_network(may_write=may_write, asked=asked) is allowed


def test_it_travels_to_another_process_as_its_settings() -> None:
    there = pickle.loads(pickle.dumps(Sandbox(SETTINGS)))
    assert there.kind == Sandbox(SETTINGS).kind
