"""Errors for people and models: a code, one clear sentence, and whether to retry.

Hosts map the classes to HTTP statuses, exit codes or cards; nothing else in the package knows about
those.
"""

from __future__ import annotations

from typing import Any


class CoworkError(Exception):
    code = "error"
    retryable = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retryable: bool | None = None,
        details: dict[str, Any] | None = None,
        advice: str = "",
    ) -> None:
        """`advice` tells a model what to do; it is not shown to people."""
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.retryable = self.retryable if retryable is None else retryable
        self.details = details or {}
        self.advice = advice

    @property
    def for_model(self) -> str:
        return f"{self.message}\n{self.advice}".rstrip("\n")

    def as_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
            "details": self.details,
        }


class InvalidInput(CoworkError):
    """The input is invalid; sending it again will not help."""

    code = "invalid"


class NotFound(CoworkError):
    """It does not exist, or is not the caller's."""

    code = "not_found"


class Conflict(CoworkError):
    """It does not fit the present state: a job runs, a revision is old."""

    code = "conflict"


class Forbidden(CoworkError):
    code = "forbidden"


class Unavailable(CoworkError):
    code = "unavailable"
    retryable = True


class Interrupted(CoworkError):
    """It was cut off, and may be partly done."""

    code = "interrupted"
