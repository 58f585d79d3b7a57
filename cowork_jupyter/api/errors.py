"""Errors of requests themselves, and the HTTP status of every error.

Handlers import this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

from ..domain.errors import Conflict, CoworkError, Forbidden, InvalidInput, NotFound, Unavailable


class MalformedRequest(CoworkError):
    code = "bad_json"


class MethodNotAllowed(CoworkError):
    code = "method_not_allowed"


class TooLarge(CoworkError):
    code = "too_large"


_STATUSES: dict[type, int] = {
    MalformedRequest: 400,
    Forbidden: 403,
    NotFound: 404,
    MethodNotAllowed: 405,
    Conflict: 409,
    TooLarge: 413,
    InvalidInput: 422,
    Unavailable: 503,
}


def status_of(error: BaseException) -> int:
    """The status of the nearest base class in the table."""
    return next((_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES), 500)
