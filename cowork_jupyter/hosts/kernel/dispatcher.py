"""Answers what a card or a magic asks, as the Jupyter server's handler would."""

from __future__ import annotations

import getpass
import json
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any, Literal
from urllib.parse import parse_qs

from ...api import api
from ...api.calls import Call, Caller
from ...api.routes import Download, Stream, table
from ...domain.cell_commands import CellCommand
from ...domain.health import Problem
from ...service import CoworkService
from ..jupyter_problems import lab_problems

assert api  # importing it fills the table


class KernelHost:
    """A kernel that runs the service for itself."""

    kind: Literal["kernel"] = "kernel"

    def problems(self) -> Iterable[Problem]:
        """What is wrong around us."""
        return lab_problems()

    def is_elsewhere(self, notebook: str, path: str) -> bool:  # noqa: ARG002
        """There is no page that could say where it stands."""
        return False

    async def notebook_of(self, kernel_id: str) -> str | None:  # noqa: ARG002
        """Nobody knows more than the kernel itself."""
        return None

    async def take_command(
        self,
        kernel_id: str,  # noqa: ARG002
        notebook: str,  # noqa: ARG002
        cell_id: str,  # noqa: ARG002
        wanted: Collection[CellCommand],  # noqa: ARG002
    ) -> bool:
        """No other kernel asks this one."""
        return False


async def dispatch(service: CoworkService, method: str, path: str, body: Any = None) -> Any:
    """The answer as plain values, a file as bytes; raises a `CoworkError`."""
    address, _, query = path.partition("?")
    route, names = table.find(method, address)
    call = Call(service=service, caller=Caller(_user()), host=KernelHost())
    call = route.read(call, names, _arguments(query), json.dumps(body or {}).encode())
    answer = await route.endpoint(call)
    if isinstance(answer, Download):
        return answer.body
    if isinstance(answer, Stream):  # a comm has no streams: all of it comes at its end
        return [line.model_dump(mode="json") async for line in answer.lines]
    # By way of JSON, so that a card gets exactly what it would get over HTTP.
    return json.loads(json.dumps(answer.model_dump(mode="python"))) if answer else None


def _arguments(query: str) -> dict[str, list[bytes]]:
    found = parse_qs(query, keep_blank_values=True)
    return {name: [value.encode() for value in values] for name, values in found.items()}


@cache
def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
