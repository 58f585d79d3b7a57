"""The pictures in the documentation are those that the browser tests draw.

`make screenshots` runs the tests that draw them and keeps the pictures in `docs/images`. After
every run of the browser tests, pictures that look otherwise than those kept are named, so that
nobody has to remember; and a site that is built then shows the new ones already.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from PIL import Image, ImageChops, ImageStat

from . import DRAWN, ROOT

KEPT = ROOT / "docs" / "images"
_DRAWS = re.compile(r'screenshot\(\w+, "([\w-]+)"\)')
_COLOURS = 128
_THUMBNAIL = (64, 40)
_UNLIKE = 4.0
"""Of 255, on average over a thumbnail: a word more or less is far below, a moved panel above."""


def drawn_by() -> dict[str, Path]:
    """Every picture that a browser test draws, and the file of that test."""
    return {
        name: file
        for file in sorted(DRAWN.parent.glob("test_*.py"))
        for name in _DRAWS.findall(file.read_text(encoding="utf-8"))
    }


def kept() -> list[str]:
    """The pictures that the pages show."""
    return sorted(path.stem for path in KEPT.glob("*.png"))


def outdated() -> list[str]:
    """Those of them that look otherwise by now, as far as the tests have drawn them here."""
    pairs = [(name, KEPT / f"{name}.png", DRAWN / f"{name}.png") for name in kept()]
    return [name for name, old, new in pairs if new.exists() and not _alike(old, new)]


def _alike(one: Path, other: Path) -> bool:
    first, second = (
        Image.open(path).convert("RGB").resize(_THUMBNAIL, Image.Resampling.BOX)
        for path in (one, other)
    )
    return max(ImageStat.Stat(ImageChops.difference(first, second)).mean) < _UNLIKE


def keep(name: str) -> None:
    """Take over what was drawn, in fewer colours and so in fewer bytes."""
    with Image.open(DRAWN / f"{name}.png") as drawn:
        drawn.convert("RGB").quantize(_COLOURS).save(KEPT / f"{name}.png", optimize=True)


def main() -> int:
    """Draw them all anew."""
    files = sorted({str(drawn_by()[name]) for name in kept()})
    tested = subprocess.run([sys.executable, "-m", "pytest", "-q", *files], cwd=ROOT, check=False)  # noqa: S603
    if tested.returncode == 0:
        for name in kept():
            keep(name)
    return tested.returncode


if __name__ == "__main__":
    sys.exit(main())
