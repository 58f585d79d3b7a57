"""The terminal: results on standard output, progress on standard error.

Text from the model, from files and from commands is made harmless: characters that would move the
cursor, colour or hide anything are spelled out.
"""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from typing import TextIO

from ...policy.visible import visible

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_STYLES = {"bold": "1", "dim": "2", "good": "32", "bad": "31", "ask": "33"}
_CLEAR_LINE = "\r\x1b[K"


class Screen:
    """Lines, and on a terminal a status line at the bottom."""

    def __init__(self, results: TextIO | None = None, progress: TextIO | None = None) -> None:
        self._results = results or sys.stdout
        self._progress = progress or sys.stderr
        self._status = ""
        self._status_is_drawn = False
        self._frame = 0
        self._live = self._progress.isatty() and os.environ.get("TERM") != "dumb"
        self._colours = self._live and not os.environ.get("NO_COLOR")

    def result(self, text: str) -> None:
        self.hide_status()
        self._results.write(f"{visible(text)}\n")
        self._results.flush()

    def record(self, line: str) -> None:
        """A line for programs, unchanged."""
        self.hide_status()
        self._results.write(f"{line}\n")
        self._results.flush()

    def line(self, text: str, style: str = "") -> None:
        self.hide_status()
        self._progress.write(f"{self._style(visible(text), style)}\n")
        self._progress.flush()

    def prompt(self, text: str) -> None:
        """The answer is typed behind it."""
        self.hide_status()
        self._progress.write(self._style(visible(text), "ask"))
        self._progress.flush()

    def status(self, text: str) -> None:
        """Drawn with the next tick."""
        self._status = one_line(text)

    def tick(self) -> None:
        """Draw the status with the next frame of the spinner."""
        if not self._live or not self._status:
            return
        self._frame = (self._frame + 1) % len(_FRAMES)
        room = shutil.get_terminal_size().columns - 3
        text = f"{_FRAMES[self._frame]} {_cut(visible(self._status), room)}"
        self._progress.write(_CLEAR_LINE + self._style(text, "dim"))
        self._progress.flush()
        self._status_is_drawn = True

    def hide_status(self) -> None:
        """Make room for a line; the next tick draws the status again."""
        if self._status_is_drawn:
            self._progress.write(_CLEAR_LINE)
            self._progress.flush()
            self._status_is_drawn = False

    def _style(self, text: str, style: str) -> str:
        if not style or not self._colours:
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def one_line(text: str, most: int = 400) -> str:
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def _cut(text: str, columns: int) -> str:
    """Wide characters take two columns."""
    used = 0
    for place, char in enumerate(text):
        used += 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if used > columns:
            return text[:place]
    return text
