"""The command line as a whole: which words are commands, which are settings."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from cowork_jupyter.hosts.cli.app import CoworkApp, main

from .terminals import run_here


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here() == 2
    assert "doctor" in capsys.readouterr().out


def test_what_is_misspelt_is_not_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here("doctor", "--jsno") == 2
    assert "--jsno" in capsys.readouterr().err


def test_a_setting_that_cannot_be_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here("doctor", "--Cowork.sandbox=bars") == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.startswith("cowork: ") for line in told] == [True]
    assert "'landlock'" in told[0]


def test_what_is_wrong_is_said_without_commands_to_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_here("act", "Hi", "--policy", "\x1b[2J.json") == 2
    assert "⟨U+001B⟩[2J.json" in capsys.readouterr().err


def test_all_settings_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here("doctor", "--help-all") == 0
    assert "--Cowork.max_parallel" in capsys.readouterr().out


@pytest.mark.process
def test_help_loads_nothing_that_does_the_work() -> None:
    program = (
        "import sys, cowork_jupyter.hosts.cli.app as app; app.command_line(); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"pydantic", "openai", "tree_sitter", "jupyter_server"} & set(done.stdout.split())


@pytest.mark.process
def test_a_terminal_that_knows_few_characters_gets_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", shown)
    with pytest.raises(SystemExit):
        main(["doctor"])
    CoworkApp.clear_instance()
    shown.seek(0)
    assert shown.readline().startswith("? version ")
