"""Patience for machines that have much else to do."""

from __future__ import annotations

import pytest
from nbval.plugin import IPyNbCell  # type: ignore[import-untyped]

from .place import LIMIT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """nbval waits for the end of a cell as it is told, but for its outputs five seconds only."""
    for item in items:
        if isinstance(item, IPyNbCell):
            item.output_timeout = LIMIT
