"""The HTTP status of each of our errors. It imports nothing: handlers need it at every start."""

from __future__ import annotations

_STATUSES = {
    "Conflict": 409,
    "Forbidden": 403,
    "InvalidInput": 422,
    "MalformedRequest": 400,
    "MethodNotAllowed": 405,
    "NotFound": 404,
    "StoreError": 503,
    "TooLarge": 413,
    "Unavailable": 503,
}


def status_of(error: BaseException) -> int:
    """The status of the nearest class in the table."""
    return next(
        (_STATUSES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _STATUSES),
        500,
    )
