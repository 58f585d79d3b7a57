"""What the tests of downloads share."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from .publisher import Publisher, publishing


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with publishing() as running:
        yield running


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(follow_redirects=True, trust_env=False, timeout=60) as made:
        yield made
