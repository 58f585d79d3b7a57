"""How much we add: packages and scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.packaging.resolver import packages_for

from .rows import Row

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "cowork_jupyter"


def measure() -> Iterator[Row]:
    yield Row("card script", (PACKAGE / "static/card.js").stat().st_size / 1000, "KB", 60)
    chunks = (PACKAGE / "labextension/static").glob("*.js")
    largest = max(chunk.stat().st_size for chunk in chunks)
    yield Row("largest Lab extension chunk", largest / 1000, "KB", 200)
    added = packages_for(str(ROOT)) - packages_for("jupyterlab")
    note = ", ".join(sorted(added))
    yield Row("packages added to JupyterLab", len(added), "", 20, note)
