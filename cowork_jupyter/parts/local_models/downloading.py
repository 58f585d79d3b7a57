"""Downloads a model, with progress for a terminal or a log."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import httpx

from ..._version import __version__
from ...hosts.cli.screen import Screen
from .download import Progress, describe, download
from .model_dir import Recommended

_LINES = 10
"""Progress lines in all, without a terminal."""
_FRAME = 0.1
"""Seconds between two redraws on a terminal."""
_TIMEOUT = httpx.Timeout(60.0, connect=15.0)


def get(wanted: Recommended, place: Path, hub: str) -> None:
    screen = Screen(sys.stdout, sys.stderr)
    story = DownloadProgress(screen)
    agent = {"User-Agent": f"cowork-jupyter/{__version__}"}
    with httpx.Client(headers=agent, timeout=_TIMEOUT, follow_redirects=True) as client:
        described = describe(wanted, client, hub)
        screen.line(f"{wanted.file}, {described.size / 1e9:.1f} GB, from {described.address}")
        try:
            download(described, place, client, story.tell)
        except KeyboardInterrupt:
            screen.line(f"Stopped at {story.share:.0%}; run the same command to resume.")
            raise
        finally:
            screen.hide_status()


class DownloadProgress:
    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._began: tuple[float, int] | None = None
        self._drawn = float("-inf")
        self._reported_step = 0
        self.share = 0.0

    def tell(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.checking:
            words = f"checking: {progress.done / progress.total:.0%}"
        else:
            self.share = progress.done / progress.total
            words = self._words(progress, now)
            self._report_step(progress.done * _LINES // progress.total, words)
        if now - self._drawn >= _FRAME:
            self._drawn = now
            self._screen.status(words)
            self._screen.tick()

    def _words(self, progress: Progress, now: float) -> str:
        began, had = self._began = self._began or (now, progress.done)
        speed = (progress.done - had) / (now - began) if now > began else 0.0
        words = f"{self.share:.0%} of {progress.total / 1e9:.1f} GB"
        if not speed:
            return words
        seconds = (progress.total - progress.done) / speed
        return f"{words}, {speed / 1e6:.1f} MB/s, {seconds // 60:.0f}:{seconds % 60:02.0f} left"

    def _report_step(self, step: int, words: str) -> None:
        if step > self._reported_step and not sys.stderr.isatty():
            self._reported_step = step
            self._screen.line(words)
