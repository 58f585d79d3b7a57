from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.store import Store


@pytest.fixture(scope="module")
def ready_tables() -> None:
    """Here they are made."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "cowork.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as opened:
        yield opened


@pytest.fixture
def context(store: Store) -> Context:
    return store.save_context(Context(title="sales"))
