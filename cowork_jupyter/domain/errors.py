"""The errors that reach a person or a model: a code, one clear sentence, what to expect.

Hosts map the classes to their own form (HTTP status, exit code, card); nothing else
in the package knows about those forms.
"""

from __future__ import annotations

from typing import Any


class CoworkError(Exception):
    """Something went wrong in a way we can explain."""

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
        """`advice` says what a model should do now; people are spared it."""
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.retryable = self.retryable if retryable is None else retryable
        self.details = details or {}
        self.advice = advice

    @property
    def for_model(self) -> str:
        """The message as a model gets it, with the advice on a line of its own."""
        return f"{self.message}\n{self.advice}".rstrip("\n")

    def as_dict(self) -> dict[str, Any]:
        """The contract's error object."""
        return {
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
            "details": self.details,
        }


class InvalidInput(CoworkError):
    """What was sent does not make sense; sending it again will not help."""

    code = "invalid"


class NotFound(CoworkError):
    """There is no such thing (or it is not the caller's)."""

    code = "not_found"


class Conflict(CoworkError):
    """It does not fit the present state: a job runs, a revision is old."""

    code = "conflict"


class Forbidden(CoworkError):
    """The role or the caller may not do this, now or on a second try."""

    code = "forbidden"


class Unavailable(CoworkError):
    """Something we need does not answer right now."""

    code = "unavailable"
    retryable = True


class Interrupted(CoworkError):
    """It was cut off, and nobody knows how much of it was done."""

    code = "interrupted"
