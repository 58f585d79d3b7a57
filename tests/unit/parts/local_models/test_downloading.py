"""How a download looks: a line that moves on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from cowork_jupyter.hosts.cli.screen import Screen
from cowork_jupyter.parts.local_models.download import Progress
from cowork_jupyter.parts.local_models.downloading import DownloadProgress

GB = 10**9


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, output: io.StringIO, *progress: Progress) -> str:
    monkeypatch.setattr(sys, "stderr", output)
    monkeypatch.setenv("TERM", "xterm")
    story = DownloadProgress(Screen(io.StringIO(), output))
    for one in progress:
        story.tell(one)
    return output.getvalue()


def test_a_terminal_shows_how_far_it_is_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, Terminal(), Progress(GB, 4 * GB))
    assert "25% of 4.0 GB" in text
    assert "\n" not in text


def test_a_log_gets_a_line_for_each_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [Progress(done, 100) for done in range(0, 101, 2)]
    checks = [Progress(done, 100, checking=True) for done in range(0, 101, 2)]
    lines = shown(monkeypatch, io.StringIO(), *steps, *checks).splitlines()
    assert [line.split("%")[0] for line in lines] == [str(tenth * 10) for tenth in range(1, 11)]
