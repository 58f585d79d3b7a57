"""What surrounds us under Jupyter."""

from __future__ import annotations

import socket
from importlib.metadata import version

import pytest

from cowork_jupyter.hosts import jupyter_problems
from cowork_jupyter.hosts.jupyter_problems import (
    lab_problems,
    moved_port_problems,
    taken_port_problems,
)


def pretend_lab_is(monkeypatch: pytest.MonkeyPatch, found: str | None) -> None:
    monkeypatch.setattr(jupyter_problems, "_installed_lab", lambda: found)


def test_the_lab_that_is_really_here_is_found() -> None:
    assert jupyter_problems._installed_lab() == version("jupyterlab")


@pytest.mark.parametrize("found", ["4.4.0", "4.6.6", "5.0.0a1", None])
def test_a_lab_that_will_do(monkeypatch: pytest.MonkeyPatch, found: str | None) -> None:
    pretend_lab_is(monkeypatch, found)
    assert list(lab_problems()) == []


@pytest.mark.parametrize("found", ["3.6.8", "4.0.0rc1", "4.3.9"])
def test_an_old_lab_says_how_to_get_a_new_one(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    pretend_lab_is(monkeypatch, found)
    (problem,) = lab_problems()
    assert problem.code == "jupyterlab_too_old"
    assert found in problem.message
    assert "pip install --upgrade" in problem.message


def test_a_server_that_moved_to_another_port_says_so() -> None:
    assert list(moved_port_problems(8888, 8888)) == []
    assert list(moved_port_problems(0, 41234)) == []
    (problem,) = moved_port_problems(8888, 8889)
    assert "8888 was in use" in problem.message
    assert "8889" in problem.message


def test_a_taken_port_is_noticed_and_a_free_one_is_not() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        (problem,) = taken_port_problems(port)
        assert f"--port {port + 1}" in problem.message
    assert list(taken_port_problems(port)) == []
