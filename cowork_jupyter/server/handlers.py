"""HTTP handlers: parse, call the service, map typed errors. They decide nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.extension.handler import ExtensionHandlerMixin
from tornado import web

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ..service import CoworkService
    from .extension import CoworkExtension

_CODES = {
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
}


class CoworkHandler(ExtensionHandlerMixin, APIHandler):
    """What all handlers share: the service, and the contract's form of answers and errors."""

    auth_resource = "cowork"

    @property
    def extension(self) -> CoworkExtension:
        """The extension app that this handler belongs to."""
        return cast("CoworkExtension", self.extensionapp)

    @property
    def service(self) -> CoworkService:
        """The service behind every route."""
        return self.extension.service

    def answer(self, model: BaseModel, status: int = 200) -> None:
        """Send a model as JSON."""
        self.set_status(status)
        self.finish(model.model_dump_json())

    def answer_list(self, items: Sequence[BaseModel]) -> None:
        """Send a list in the contract's envelope."""
        self.finish({"items": [item.model_dump(mode="json") for item in items], "next": None})

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Every failure becomes the contract's error object; a traceback never leaves."""
        error = kwargs.get("exc_info", (None, None))[1]
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps({"error": _error_object(status_code, error)}))


def _error_object(status: int, error: BaseException | None) -> dict[str, Any]:
    message = "Something went wrong here; the log of the Jupyter server says more."
    if isinstance(error, web.HTTPError) and status < 500:
        message = error.log_message or error.reason or HTTPStatus(status).phrase
    return {
        "code": _CODES.get(status, "bad_request" if status < 500 else "internal"),
        "message": message,
        "retryable": status >= 500,
        "details": {},
    }


class HealthHandler(CoworkHandler):
    """`GET health`."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """How this installation is doing; `?fresh=true` looks at the model again."""
        from ..surroundings import lab_problems, moved_port_problems

        fresh = self.get_query_argument("fresh", "false") == "true"
        problems = [*lab_problems(), *moved_port_problems(*self.extension.ports)]
        self.answer(await self.service.health(problems, fresh=fresh))


class RolesHandler(CoworkHandler):
    """`GET roles`."""

    @web.authenticated
    @authorized
    def get(self) -> None:
        """Each role with its look, permissions and tools."""
        self.answer_list(self.service.roles())


class UnknownHandler(CoworkHandler):
    """Any other address below `cowork/`."""

    @web.authenticated
    @authorized
    def get(self, *_: str) -> None:
        """Say so in the contract's form, but only to those who may ask at all."""
        raise web.HTTPError(404, "There is nothing at this address.")

    post = put = patch = delete = head = get


ROUTES = [
    (r"/cowork/health", HealthHandler),
    (r"/cowork/roles", RolesHandler),
    (r"/cowork/.*", UnknownHandler),
]
