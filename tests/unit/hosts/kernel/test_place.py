"""Where a cell runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cowork_jupyter.hosts.kernel.place import KernelPlace, place_of


def shell(request: dict[str, Any] | None = None, **names: Any) -> Any:
    kernel = SimpleNamespace(get_parent=lambda channel: request if channel == "shell" else None)
    return SimpleNamespace(kernel=kernel, user_ns=names)


def test_jupyter_names_the_notebook_and_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/root/work/a.ipynb")
    request = {"metadata": {"cellId": "c1"}, "content": {"allow_stdin": True}}
    assert place_of(shell(request)) == KernelPlace(Path("/root/work/a.ipynb"), "c1", attended=True)


def test_a_program_that_runs_notebooks_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert place_of(shell({"metadata": {}, "content": {"allow_stdin": False}})) == KernelPlace()


def test_visual_studio_code_names_it_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    found = place_of(shell(None, __vsc_ipynb_file__="/w/b.ipynb"))
    assert found.notebook == Path("/w/b.ipynb")


def test_a_console_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "console-1-5dfb")
    assert place_of(shell(None)).notebook is None


def test_a_terminal_has_no_kernel() -> None:
    assert place_of(SimpleNamespace(user_ns={})) == KernelPlace()
    assert place_of(None) == KernelPlace()


@pytest.mark.parametrize(
    ("workspace", "name"), [("/w", "sub/a.ipynb"), ("/w/sub", "a.ipynb"), ("/else", "a.ipynb")]
)
def test_the_workspace_knows_it_by_its_own_path(workspace: str, name: str) -> None:
    assert KernelPlace(Path("/w/sub/a.ipynb")).notebook_in(workspace) == name
    assert KernelPlace().notebook_in(workspace) is None
