"""Places that always ask."""

from __future__ import annotations

from pathlib import Path

import pytest

import cowork_jupyter
from cowork_jupyter.policy.paths import AnchorDirs, Target, target_of
from cowork_jupyter.policy.protected import is_secret, protection


def place(path: str) -> Target:
    return Target(f"/work/{path}", f"/work/{path}")


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/.git/hooks/pre-commit",
        ".GIT/config",
        ".git./config",
        ".cowork/settings.json",
        ".jupyter/jupyter_server_config.py",
        ".ipython/profile_default/startup/00.py",
        ".local/share/jupyter/kernels/python3/kernel.json",
        ".bashrc",
        ".zshenv",
        ".profile",
        ".config/fish/config.fish",
        ".ssh/authorized_keys",
        ".aws/credentials",
        ".netrc",
        ".env",
        ".env.production",
        "deploy.pem",
        "sitecustomize.py",
        "evil.pth",
        "\uff0egit/config",
    ],
)
def test_changing_these_always_asks(path: str) -> None:
    assert protection(place(path))


@pytest.mark.parametrize(
    "path", ["a.py", "data/git/x", "environment.yml", "notebooks/kernel.ipynb", ".gitignore"]
)
def test_ordinary_files_are_not_protected(path: str) -> None:
    assert protection(place(path)) is None


@pytest.mark.parametrize("path", [".env", ".ssh/id_rsa", "x.key", "credentials.json", ".netrc"])
def test_reading_these_shows_secrets(path: str) -> None:
    assert is_secret(place(path))


@pytest.mark.parametrize("path", [".git/HEAD", ".env.example", "keyboard.py", ".cowork/x"])
def test_reading_these_does_not(path: str) -> None:
    assert not is_secret(place(path))


def test_the_package_itself_is_protected_wherever_it_is() -> None:
    own = str(Path(cowork_jupyter.__file__).resolve())
    assert protection(Target(own, own)) == "it is part of Cowork itself"


def test_link_to_a_protected_place_is_protected(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes.txt").symlink_to(".git/config")
    assert protection(target_of(AnchorDirs.of(tmp_path), "notes.txt"))
