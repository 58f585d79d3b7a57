"""Lab's start in a real browser with the extension against the same without it, taking turns."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from tests.ui.chromium import ARGUMENTS, HELP, find_chromium
from tests.ui.lab import LabServer

from .rows import Row

ROUNDS = 15
WITHOUT = {"disabledExtensions": {"cowork-jupyter": True}}


def measure() -> Iterator[Row]:
    chromium = find_chromium()
    if not chromium:
        raise SystemExit(HELP)
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        stack.callback(browser.close)
        ours, plain = (
            stack.enter_context(LabServer(_folder(stack, extension=extension)))
            for extension in (True, False)
        )
        for lab in (ours, plain):
            _seconds(browser, lab)  # what a server reads once; not counted
        times = [(_seconds(browser, ours), _seconds(browser, plain)) for _ in range(ROUNDS)]
    with_us, without = (statistics.median(column) for column in zip(*times, strict=True))
    yield Row(
        "Lab's start in the browser, against plain JupyterLab",
        with_us / without,
        "×",
        1.03,
        f"{with_us:.2f} s against {without:.2f} s, median of {ROUNDS}",
    )


def _folder(stack: ExitStack, *, extension: bool) -> Path:
    folder = Path(stack.enter_context(TemporaryDirectory()))
    if not extension:
        config = folder / "CONFIG" / "labconfig"
        config.mkdir(parents=True)
        (config / "page_config.json").write_text(json.dumps(WITHOUT))
    return folder


def _seconds(browser: Browser, lab: LabServer) -> float:
    """From the address to a Lab that has put its splash away, with nothing cached."""
    page = browser.new_page()
    try:
        began = time.perf_counter()
        page.goto(lab.url("lab"), wait_until="commit")
        page.wait_for_selector("#jp-main-dock-panel", timeout=120_000)
        page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=120_000)
        return time.perf_counter() - began
    finally:
        page.close()
