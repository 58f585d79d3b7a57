"""Finds a Chromium for the browser tests, or gets one: `python -m tests.ui.chromium`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""Quiet and rootless: no sandbox of its own, no talk to the outside."""

HELP = (
    "The browser tests need Chromium and none could be installed. "
    "Install it (Debian, Ubuntu: sudo apt install chromium) and run make test again."
)


def find_chromium() -> str | None:
    """A Chromium on the PATH, else the one that playwright keeps."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        bundled = playwright.chromium.executable_path
    return bundled if Path(bundled).exists() else None


def install_chromium() -> None:
    """Debian's package when root, else playwright's download."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Debian's chromium …", flush=True)
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        packages = ["chromium", "fonts-dejavu-core"]
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
            env=environment,
            stdout=subprocess.DEVNULL,
            check=False,
        )
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


def main() -> int:
    if not find_chromium():
        install_chromium()
    found = find_chromium()
    print(f"Using {found}" if found else HELP, file=sys.stdout if found else sys.stderr)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
