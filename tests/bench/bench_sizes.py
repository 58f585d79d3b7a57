"""How much we add: packages and scripts."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from tests.packaging.resolver import packages_for

from .rows import Row

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "cowork_jupyter"


def measure() -> Iterator[Row]:
    script = (PACKAGE / "static/card.js").read_text()
    yield Row("card script as shipped", len(script) / 1000, "KB", 60, "in each widget's state")
    size = len(unpacked(script)) / 1000
    yield Row("card script, minified, before packing", size, "KB", 110, "what the browser runs")
    chunks = (PACKAGE / "labextension/static").glob("*.js")
    largest = max(chunk.stat().st_size for chunk in chunks)
    yield Row("largest Lab extension chunk", largest / 1000, "KB", 200)
    added = packages_for(str(ROOT)) - packages_for("jupyterlab")
    note = ", ".join(sorted(added))
    yield Row("packages added to JupyterLab", len(added), "", 20, note)


def unpacked(script: str) -> bytes:
    """The script that the shipped one unpacks; itself, if it is a development build."""
    packed = re.match(r'const packed="([^"]+)"', script)
    return gzip.decompress(base64.b64decode(packed[1])) if packed else script.encode()
