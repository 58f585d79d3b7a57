"""One call of the API: who calls, and with which arguments."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ..domain.base_models import describe_problems, field_problems
from ..domain.contexts import Initiator
from ..domain.errors import Forbidden, InvalidInput, NotFound
from .errors import MalformedRequest, TooLarge

if TYPE_CHECKING:
    from ..domain.cell_commands import CellCommand
    from ..domain.contexts import Job
    from ..domain.health import Problem
    from ..roles.catalog import RoleCatalog
    from ..service.service import CoworkService

MAX_BODY_SIZE = 8 * 1024 * 1024
JUPYTER_PARAMETERS = {"token", "_xsrf", "no_track_activity"}
_EXACT = 2**53
"""Up to here, all integers are floats of their own."""
"""Query parameters that are meant for the Jupyter server."""
M = TypeVar("M", bound=BaseModel)


class NeedsPerson(Forbidden):
    """A kernel asked for what only a person may, and no person has just run a cell for it."""

    def __init__(self) -> None:
        super().__init__(
            "Code cannot do this. Run the magic in a cell yourself, or use the Cowork panel.",
            code="needs_person",
        )


@dataclass(frozen=True)
class Caller:
    name: str
    """The user's name, as Jupyter's identity provider gives it."""
    kernel_id: str | None = None
    """Set if a kernel's own token was used; `name` is then whoever started the kernel."""

    @property
    def sees_only(self) -> str | None:
        """The only owner whose contexts the caller may see; None for a user, who sees all."""
        return self.name if self.kernel_id else None

    @property
    def initiator(self) -> Initiator:
        return "kernel" if self.kernel_id else "person"


class Host(Protocol):
    """What only the host of the service knows."""

    @property
    def kind(self) -> Literal["server", "kernel"]:
        """Where cards send their requests."""

    def problems(self) -> Iterable[Problem]:
        """Problems of the host's environment."""

    def is_elsewhere(self, notebook: str, path: str) -> bool:
        """Whether a notebook exists in the workspace and is not the file at a page's path."""

    async def notebook_of(self, kernel_id: str) -> str | None:
        """The file of the notebook that a kernel runs now; None if unknown."""

    async def take_command(
        self, kernel_id: str, notebook: str, cell_id: str, wanted: Collection[CellCommand]
    ) -> bool:
        """Whether a person has just run this cell to have one of these done. Counts once."""

    async def is_unattended(self, kernel_id: str, notebook: str | None) -> bool:
        """Whether the kernel runs its own code only, and no page shows its notebook or this one."""


@dataclass
class Call:
    """All that an endpoint knows about a request."""

    service: CoworkService
    caller: Caller
    host: Host
    path: dict[str, str] = field(default_factory=dict)
    body: Any = None
    query: Any = None


def may_see(service: CoworkService, caller: Caller, context_id: str) -> bool:
    owner = caller.sees_only
    return owner is None or service.conversations.owner(context_id) in ("", owner)


def check_owner(service: CoworkService, caller: Caller, context_id: str) -> None:
    """Raise NotFound, so that a kernel does not learn whether another user's context exists."""
    if not may_see(service, caller, context_id):
        raise NotFound(f"There is no context '{context_id}'.", details={"id": context_id})


def own_job(call: Call) -> Job:
    job = call.service.jobs.get(call.path["id"])
    check_owner(call.service, call.caller, job.context_id)
    return job


async def initiator_of(
    call: Call, command: Callable[[str | None], CellCommand], context_id: str | None = None
) -> Initiator:
    """Who asks this of a conversation: a kernel's call is a person's if they ran a cell for it.

    `command` makes the command that such a cell contains, from the name it uses for the
    conversation.
    """
    kernel_id, cell_id = call.caller.kernel_id, call.body.cell_id
    if kernel_id is None:
        return "person"
    context = call.service.conversations.get(context_id or call.path["id"])
    if cell_id is None or context.notebook is None:
        return "kernel"
    wanted = [command(name) for name in call.service.conversations.names(context)]
    taken = await call.host.take_command(kernel_id, context.notebook, cell_id, wanted)
    return "person" if taken else "kernel"


async def refuse_unless_person(call: Call, cell_id: str | None, command: CellCommand) -> None:
    """The same outside of conversations: the cell must be in the kernel's notebook."""
    kernel_id = call.caller.kernel_id
    if kernel_id is None:
        return
    notebook = await call.host.notebook_of(kernel_id)
    if not (cell_id and notebook):
        raise NeedsPerson
    if not await call.host.take_command(kernel_id, notebook, cell_id, [command]):
        raise NeedsPerson


def parse_body(raw: bytes, model: type[M], roles: RoleCatalog) -> M:
    """Raises InvalidInput naming each bad field. `roles` are the roles there are.

    Parsed twice: first to recognise malformed JSON, then strictly, so that `"yes"` is no boolean.
    In between, `2.0` becomes 2, which for JSON is the same number.
    """
    raw = raw or b"{}"
    if len(raw) > MAX_BODY_SIZE:
        raise TooLarge(f"The body is larger than {MAX_BODY_SIZE // 2**20} MiB.")
    try:
        parsed = json.loads(raw, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        raise MalformedRequest("The body is not valid JSON.") from None
    with _readable_errors():
        return model.model_validate_json(json.dumps(parsed), strict=True, context=roles)


def _finite(number: str) -> float:
    """No JSON parser would read others back."""
    if not math.isfinite(value := float(number)):
        raise MalformedRequest(f"The body holds {number}, which is no finite number.")
    return int(value) if value.is_integer() and abs(value) <= _EXACT else value


def drop_jupyter_parameters(arguments: dict[str, list[bytes]]) -> dict[str, list[bytes]]:
    """Drop Jupyter's own parameters, and the timestamp that Lab's client adds against caches."""
    return {
        name: each
        for name, each in arguments.items()
        if not (name in JUPYTER_PARAMETERS or (name.isdigit() and each == [b""]))
    }


def parse_query(
    arguments: dict[str, list[bytes]], model: type[M] | None, roles: RoleCatalog
) -> M | None:
    """Unknown names are refused, except Jupyter's own."""
    ours = drop_jupyter_parameters(arguments)
    for name, each in ours.items():
        if len(each) > 1:
            raise InvalidInput(f"{name}: is repeated")
    values = {name: each[0].decode("utf-8", "replace") for name, each in ours.items()}
    if model is None:
        if values:
            raise InvalidInput(f"There is no parameter '{next(iter(values))}' here.")
        return None
    with _readable_errors():
        return model.model_validate(values, context=roles)


@contextmanager
def _readable_errors() -> Iterator[None]:
    """Raise one error that names each bad field."""
    try:
        yield
    except ValidationError as error:
        raise InvalidInput(describe_problems(field_problems(error))) from None
    except RecursionError:
        raise InvalidInput("The body is nested too deeply.") from None
