"""Patience for machines that have much else to do, and which pages they are spared."""

from __future__ import annotations

import pytest
from nbval.plugin import IPyNbCell  # type: ignore[import-untyped]

from .place import LIMIT

QUICK = {"quickstart.ipynb", "headless.ipynb"}
"""The pages that `make test` runs. What the others say is saved in them, and read in any case."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """nbval waits for the end of a cell as it is told, but for its outputs five seconds only."""
    for item in items:
        if isinstance(item, IPyNbCell):
            item.output_timeout = LIMIT
            if item.path.name not in QUICK:
                item.add_marker(pytest.mark.slow)
