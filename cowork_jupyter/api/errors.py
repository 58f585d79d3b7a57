"""What can be wrong with a request itself, and the HTTP status of every error of ours.

Handlers need it at every start, so it brings nothing along.
"""

from __future__ import annotations

from ..domain.errors import Conflict, CoworkError, Forbidden, InvalidInput, NotFound, Unavailable


class MalformedRequest(CoworkError):
    """The body is not JSON."""

    code = "bad_json"


class MethodNotAllowed(CoworkError):
    """The address exists, but not for this method."""

    code = "method_not_allowed"


class TooLarge(CoworkError):
    """The body is larger than anything we would read."""

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
    """The status of the nearest class in the table."""
    return next((_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES), 500)
