"""Errors over HTTP."""

from __future__ import annotations

import pytest

from cowork_jupyter.api.errors import MethodNotAllowed, TooLarge, status_of
from cowork_jupyter.domain.errors import CoworkError, Forbidden, Interrupted
from cowork_jupyter.parts.mcp.connection import ServerUnavailable
from cowork_jupyter.store import StoreError


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Forbidden("No."), 403),
        (MethodNotAllowed("No."), 405),
        (TooLarge("No."), 413),
        (ServerUnavailable("Gone."), 503),
        (StoreError("The disk is full."), 503),
        (CoworkError("?"), 500),
        (Interrupted("?"), 500),
        (ValueError("?"), 500),
    ],
)
def test_the_status_is_that_of_the_nearest_known_class(error: Exception, status: int) -> None:
    assert status_of(error) == status


def test_the_record_is_not_asked_again_unless_it_says_so() -> None:
    assert not StoreError("Damaged.").retryable
