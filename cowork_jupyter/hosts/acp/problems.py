"""Our errors as the protocol's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from acp import RequestError

from ...domain.errors import Conflict, CoworkError, InvalidInput, NotFound

INTERNAL = -32603
_CODES = {NotFound: -32002, InvalidInput: -32602, Conflict: -32600}


@contextmanager
def told_to_the_client() -> Iterator[None]:
    """What goes wrong inside in a way we can explain becomes an answer with the same words."""
    try:
        yield
    except CoworkError as error:
        code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), INTERNAL)
        raise RequestError(code, error.message, error.as_dict()) from error
