"""Repositories that are somewhere else than in a folder `.git`, and their settings elsewhere."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole

from .cage import Cage
from .test_autorun import repository

pytestmark = pytest.mark.asyncio
PAYLOAD = "printf '[core]\\n\\tfsmonitor = touch %s/PWNED;false\\n' $PWD"


def git(folder: Path, *words: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False, env=environment)


def prepare(folder: Path, before: str) -> None:
    subprocess.run(["bash", "-c", before], cwd=folder, capture_output=True, check=True)


REPOSITORIES = {
    "kept elsewhere in the workspace": (
        "git init -q --separate-git-dir gd s",
        f"{PAYLOAD} >> gd/config; echo evil > gd/hooks/post-checkout",
        "s",
    ),
    "that a link leads to": (
        "git init -q s; mv s/.git gd; ln -s ../gd s/.git",
        f"{PAYLOAD} >> gd/config",
        "s",
    ),
    "with settings in another file": (
        "git init -q s; touch shared; git -C s config include.path ../../shared",
        f"{PAYLOAD} > shared",
        "s",
    ),
    "with settings that have a second name": (
        "git init -q s; ln s/.git/config alias",
        f"{PAYLOAD} >> alias",
        "s",
    ),
    "that is bare": (
        "mkdir s",
        "git init -q --bare b; rmdir b/branches; sed -i s/bare.=.true/bare=false/ b/config;"
        f" printf '\\tworktree = %s\\n' $PWD/s >> b/config; {PAYLOAD} >> b/config",
        "b",
    ),
}


@pytest.mark.parametrize(("before", "command", "place"), REPOSITORIES.values(), ids=REPOSITORIES)
async def test_settings_of_a_repository(cage: Cage, before: str, command: str, place: str) -> None:
    prepare(cage.root, before)
    await cage.run(command)
    git(cage.root / place, "status")
    assert not (cage.root / "PWNED").exists()
    assert not (cage.root / "gd/hooks/post-checkout").exists()


async def test_a_rebase_that_the_user_has_not_begun(cage: Cage) -> None:
    repository(cage.root)
    await cage.run("mkdir .git/rebase-merge; echo 'exec evil' > .git/rebase-merge/git-rebase-todo")
    assert not (cage.root / ".git/rebase-merge").exists()


async def test_permissions_are_as_before(cage: Cage) -> None:
    (cage.root / "a.csv").write_text("mine")
    (cage.root / "a.csv").chmod(0o440)
    (cage.root / "ro/deep").mkdir(parents=True)
    (cage.root / "ro").chmod(0o500)
    await cage.run("ln a.csv .envrc; mv ro .idea")
    assert (cage.root / "a.csv").stat().st_mode & 0o777 == 0o440
    assert (cage.root / "ro").stat().st_mode & 0o777 == 0o500
    (cage.root / "ro").chmod(0o700)


@pytest.mark.parametrize("role", [AgentRole.ACTOR, AgentRole.TESTER])
async def test_terminals_of_other_programs(cage: Cage, role: AgentRole) -> None:
    ours, theirs = os.openpty()
    try:
        path = os.ttyname(theirs)
        text = await cage.run(f"echo typed > {path}; timeout 1 cat {path}", role=role)
        assert text.count("denied") + text.count("No such file") == 2
        os.set_blocking(ours, False)
        with pytest.raises(BlockingIOError):
            os.read(ours, 100)
    finally:
        os.close(ours)
        os.close(theirs)
