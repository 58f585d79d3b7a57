"""The terminal's one live line, and what is never sent to it."""

from __future__ import annotations

import io

import pytest

from cowork_jupyter.hosts.cli.screen import Screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_the_status_is_one_line_however_long_and_wide_its_text(narrow: None) -> None:
    shown = Terminal()
    screen = Screen(shown, shown)
    screen.status("reading\n表表表表表表表表表表表表\x1b[2J")
    screen.tick()
    line = shown.getvalue()
    assert line.startswith("\r\x1b[K")
    assert "\n" not in line
    assert "reading 表表表表\x1b[0m" in line


def test_a_line_takes_the_place_of_the_status(narrow: None) -> None:
    shown = Terminal()
    screen = Screen(shown, shown)
    screen.status("thinking")
    screen.tick()
    screen.line("done")
    assert shown.getvalue().endswith("\r\x1b[Kdone\n")


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_whoever_wants_no_colours_gets_none(
    narrow: None, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    shown = Terminal()
    Screen(shown, shown).line("bad news", "bad")
    assert shown.getvalue() == "bad news\n"


def test_a_file_gets_neither_colours_nor_status() -> None:
    shown = io.StringIO()
    screen = Screen(shown, shown)
    screen.status("thinking")
    screen.tick()
    screen.line("bad news", "bad")
    assert shown.getvalue() == "bad news\n"
