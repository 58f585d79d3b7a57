"""Fails if a file of the package has more lines than fit in a head: `python -m tests.sizes`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
MAX_LINES = 700


def long_files(folder: Path) -> Iterator[str]:
    """Each that is too long, with its length."""
    for path in sorted(folder.rglob("*.py")):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MAX_LINES:
            yield f"{path.relative_to(folder)}: {lines} lines, at most {MAX_LINES}"


def main() -> int:
    found = list(long_files(ROOT / "cowork_jupyter"))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
