"""Finding what runs later, and looking again only where something has changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cowork_jupyter.workspace.sandbox import autorun
from cowork_jupyter.workspace.sandbox.autorun import AutorunFinder, followed, new_in

pytestmark = pytest.mark.process


def made(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def found(finder: AutorunFinder, root: Path) -> dict[str, str]:
    return {str(Path(one.path).relative_to(root)): one.kind for one in finder.find()}


def test_everything_is_found_wherever_it_is(tmp_path: Path) -> None:
    made(tmp_path, ".git/config", ".git/hooks/x", ".git/objects/x", ".git/modules/m/HEAD")
    made(tmp_path, ".git/modules/m/hooks/x", "a/b/.envrc", "a/.IDEA/x", "v/pyvenv.cfg", "v/lib/x")
    made(tmp_path, "node_modules/p/.vscode/x", "shared/tasks.json", "data/.envrc")
    made(tmp_path, ".tool-of-tomorrow/x.json", "sitecustomize.py", "k/kernel.json", "a/x.pth")
    made(tmp_path, ".zarray", ".pytest_cache/x", ".gitignore", "__pycache__/x.pyc", "n/.cache/.env")
    (tmp_path / ".vscode").symlink_to("shared")
    finder = AutorunFinder(str(tmp_path), str(tmp_path / "data"))
    assert found(finder, tmp_path) == {
        ".git": "git",
        ".git/config": "git",
        ".git/hooks": "git",
        ".git/modules/m/hooks": "git",
        ".vscode": "settings",
        ".tool-of-tomorrow": "settings",
        "sitecustomize.py": "settings",
        "k/kernel.json": "settings",
        "a/x.pth": "settings",
        "__pycache__": "settings",
        "__pycache__/x.pyc": "settings",
        "a/.IDEA": "settings",
        "a/b/.envrc": "settings",
        "v": "environment",
    }
    unknown = {one.path.rpartition("/")[2] for one in finder.find() if not one.is_known}
    assert unknown == {".tool-of-tomorrow", "__pycache__", "x.pyc"}
    (shared,) = followed(finder.find(), str(tmp_path))
    assert shared.path == str(tmp_path / "shared")


def test_workspace_that_is_an_environment_is_not_closed(tmp_path: Path) -> None:
    made(tmp_path, "pyvenv.cfg", "lib/python3.12/site-packages/x.py", "notebooks/.envrc")
    assert found(AutorunFinder(str(tmp_path)), tmp_path) == {
        "pyvenv.cfg": "settings",
        "lib/python3.12/site-packages": "environment",
        "notebooks/.envrc": "settings",
    }


def test_only_folders_that_changed_are_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autorun, "_YOUNG", 0)
    made(tmp_path, "a/x", "b/c/x")
    finder, listed = AutorunFinder(str(tmp_path)), list[str]()
    list_folder = os.scandir

    def noting(folder: str) -> object:
        listed.append(str(Path(folder).relative_to(tmp_path)))
        return list_folder(folder)

    with monkeypatch.context() as patched:  # what clears up after the test lists folders, too
        patched.setattr(os, "scandir", noting)
        finder.find()
        assert sorted(listed) == [".", "a", "b", "b/c"]
        listed.clear()
        made(tmp_path, "b/c/.envrc")
        os.utime(tmp_path / "b/c", ns=(0, 0))
        assert found(finder, tmp_path) == {"b/c/.envrc": "settings"}
        assert listed == ["b/c"]


def test_what_is_new_in_a_folder_that_is_not_entered(tmp_path: Path) -> None:
    made(tmp_path, "node_modules/a/b/c.js", "node_modules/d/e.js")
    time.sleep(0.02)  # a tick of the clock that files get their times from
    began = time.clock_gettime_ns(5)
    made(tmp_path, "node_modules/a/b/evil.js", "node_modules/new/x/y.js")
    until = time.monotonic() + 60
    names = {
        str(Path(path).relative_to(tmp_path))
        for path in new_in(str(tmp_path / "node_modules"), began, until)
    }
    assert names == {"node_modules/a/b/evil.js", "node_modules/new"}
    assert list(new_in(str(tmp_path / "node_modules"), began, 0)) == []
