"""How much we add: packages and scripts."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

from tests.packaging.resolver import packages_for

from .rows import Row

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "cowork_jupyter"


def measure() -> Iterator[Row]:
    script = (PACKAGE / "static/card.js").read_text()
    yield Row("card script as shipped", len(script) / 1000, "KB", 50, "in each widget's state")
    size = len(unpacked(script)) / 1000
    yield Row("card script, minified, before packing", size, "KB", 115, "what the browser runs")
    chunks = (PACKAGE / "labextension/static").glob("*.js")
    largest = max(chunk.stat().st_size for chunk in chunks)
    yield Row("largest Lab extension chunk", largest / 1000, "KB", 200)
    added = packages_for(str(ROOT)) - packages_for("jupyterlab")
    note = ", ".join(sorted(added))
    yield Row("packages added to JupyterLab", len(added), "", 20, note)


def unpacked(script: str) -> bytes:
    """The script that the shipped one unpacks; itself, if it is a development build."""
    found = re.match(r'const \w+="([^"]+)",\w+="([^"]+)"', script)
    if not found:
        return script.encode()
    packed, digits = found.groups()
    words = (packed[at : at + 5] for at in range(0, len(packed), 5))
    numbers = (reduce(lambda word, one: word * 85 + digits.index(one), each, 0) for each in words)
    padded = b"".join(number.to_bytes(4, "big") for number in numbers)
    return zlib.decompressobj(wbits=-zlib.MAX_WBITS).decompress(padded)
