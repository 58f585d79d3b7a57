"""One call of the API: who calls, for what, with what."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..domain.errors import CoworkError, InvalidInput

if TYPE_CHECKING:
    from ..service import CoworkService

LARGEST_BODY = 8 * 1024 * 1024
M = TypeVar("M", bound=BaseModel)


class TooLarge(CoworkError):
    """The body is larger than anything we would read."""

    code = "too_large"


class Malformed(CoworkError):
    """The body is not JSON."""

    code = "bad_json"


@dataclass(frozen=True)
class Caller:
    """Who is calling."""

    name: str
    """The user's name, as Jupyter's identity provider gives it."""
    kernel_id: str | None = None
    """Set when a kernel's own token opened the door."""


@dataclass
class Call:
    """All that an endpoint gets to know of a request."""

    service: CoworkService
    caller: Caller
    path: dict[str, str] = field(default_factory=dict)
    body: Any = None
    query: Any = None
    host: Any = None
    """The extension, for what only the Jupyter server knows."""


def parse_body(raw: bytes, model: type[M]) -> M:
    """The body as its model, or an error that names each bad field."""
    if len(raw) > LARGEST_BODY:
        raise TooLarge(f"The body is larger than {LARGEST_BODY // 2**20} MiB.")
    try:
        value = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        raise Malformed("The body is not JSON that can be read.") from None
    return validate(value, model)


def parse_query(arguments: dict[str, list[bytes]], model: type[M] | None) -> M | None:
    """The query as its model. Unknown names are refused; the token is Jupyter's."""
    values = {
        name: each[-1].decode("utf-8", "replace")
        for name, each in arguments.items()
        if name != "token"
    }
    if model is None:
        if values:
            raise InvalidInput(f"There is no parameter '{next(iter(values))}' here.")
        return None
    return validate(values, model)


def validate(value: Any, model: type[M]) -> M:
    """The value as its model, or one readable error."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InvalidInput(*_readable(error)) from None
    except RecursionError:
        raise InvalidInput("The body is nested too deeply.") from None


def _readable(error: ValidationError) -> tuple[str]:
    problems = [
        f"{'.'.join(str(part) for part in one['loc']) or 'body'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return ("; ".join(problems[:10]),)
