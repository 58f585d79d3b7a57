"""The route table: every address of the API, declared once.

An endpoint is a function decorated with `@table.get(…)` or the like. The same declaration validates
the request, names who may call, shapes the answer and describes it all in `openapi.json`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict, TypeVar, Unpack
from urllib.parse import unquote

from pydantic import BaseModel

from ..domain.errors import NotFound
from .calls import Call, check_owner, parse_body, parse_query
from .errors import MethodNotAllowed

Method = Literal["GET", "POST", "PUT", "DELETE"]
Action = Literal["read", "write", "execute"]
Answer = type[BaseModel] | None
Endpoint = Callable[[Call], Awaitable["BaseModel | Download | Stream | None"]]
E = TypeVar("E", bound=Endpoint)

_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Download:
    """A file as an answer; all other answers are JSON."""

    content_type: str
    file_name: str
    """Only characters that a header takes unquoted."""
    body: bytes


@dataclass(frozen=True)
class Stream:
    """An answer in lines of JSON (NDJSON), each sent as soon as it is there."""

    lines: AsyncGenerator[BaseModel, None]
    """Closed at once when the client disconnects."""


NDJSON = "application/x-ndjson"


@dataclass(frozen=True)
class Route:
    method: Method
    path: str
    """With `{names}` for parameters."""
    endpoint: Endpoint
    answer: Answer
    action: Action
    """The action that Jupyter's authorizer is asked about, on the resource `cowork`."""
    status: int = 200
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    kernel: bool = False
    """Whether a kernel's own token is accepted, too."""
    downloads: tuple[str, ...] = ()
    """Content types of a `Download`."""
    streams: bool = False
    """Whether it answers with a `Stream` of `answer`s."""
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        regex = _PARAMETER.sub(
            r"(?P<\1>[^/]+)", re.escape(self.path).replace(r"\{", "{").replace(r"\}", "}")
        )
        object.__setattr__(self, "pattern", re.compile(regex))

    @property
    def parameters(self) -> list[str]:
        return _PARAMETER.findall(self.path)

    def read(
        self, call: Call, path: dict[str, str], query: dict[str, list[bytes]], body: bytes
    ) -> Call:
        """Validate what came in and add it to the call."""
        names = {name: unquote(value) for name, value in path.items()}
        if self.path.startswith("context/{id}"):
            check_owner(call.service, call.caller, names["id"])
        roles = call.service.role_catalog
        return replace(
            call,
            path=names,
            body=parse_body(body, self.body, roles) if self.body else None,
            query=parse_query(query, self.query, roles),
        )


class Options(TypedDict, total=False):
    body: type[BaseModel]
    query: type[BaseModel]
    status: int
    kernel: bool
    downloads: tuple[str, ...]
    streams: bool


class RouteTable:
    def __init__(self) -> None:
        self.routes: list[Route] = []

    def get(
        self, path: str, answer: Answer, *, action: Action = "read", **options: Unpack[Options]
    ) -> Callable[[E], E]:
        return self._declare("GET", path, answer, action, options)

    def post(
        self, path: str, answer: Answer, *, action: Action, **options: Unpack[Options]
    ) -> Callable[[E], E]:
        return self._declare("POST", path, answer, action, options)

    def put(
        self, path: str, answer: Answer, *, action: Action = "write", **options: Unpack[Options]
    ) -> Callable[[E], E]:
        return self._declare("PUT", path, answer, action, options)

    def delete(
        self,
        path: str,
        *,
        answer: Answer = None,
        action: Action = "write",
        **options: Unpack[Options],
    ) -> Callable[[E], E]:
        options.setdefault("status", 200 if answer else 204)
        return self._declare("DELETE", path, answer, action, options)

    def _declare(
        self, method: Method, path: str, answer: Answer, action: Action, options: Options
    ) -> Callable[[E], E]:
        def declare(endpoint: E) -> E:
            self.routes.append(Route(method, path, endpoint, answer, action, **options))
            return endpoint

        return declare

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """Return the route and its path parameters. Raises NotFound or MethodNotAllowed."""
        allowed = []
        for route in self.routes:
            match = route.pattern.fullmatch(path)
            if match and route.method == method:
                return route, match.groupdict()
            if match:
                allowed.append(route.method)
        if allowed:
            allowed.sort()
            raise MethodNotAllowed(
                f"This address supports only {', '.join(allowed)}.", details={"allow": allowed}
            )
        raise NotFound("There is nothing at this address.")


table = RouteTable()
"""The table that all endpoints register with."""
