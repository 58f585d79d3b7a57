"""The one HTTP handler: finds the route, authorizes the caller, calls, maps typed errors.

It imports nothing heavy: the route table and its models come with the first request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from contextlib import aclosing
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import APIHandler
from jupyter_server.extension.handler import ExtensionHandlerMixin
from jupyter_server.utils import url_path_join
from tornado import web
from tornado.websocket import WebSocketClosedError

from ...api.errors import status_of
from .outbox import Outbox

if TYPE_CHECKING:
    from ...api.calls import Caller
    from ...api.routes import Download, Route, Stream
    from .host import ServerHost
    from .kernel_tokens import Kernel

_CODES = {401: "unauthenticated", 403: "forbidden", 404: "not_found", 405: "method_not_allowed"}


class NotLoggedIn(web.HTTPError):
    """Neither a user nor a kernel with a valid token."""

    code = _CODES[401]

    def __init__(self) -> None:
        super().__init__(403, "Log in to this Jupyter server first.")


class CallerMixin(ExtensionHandlerMixin):
    """Knows who is calling: a user of the Jupyter server, or a kernel with a token of ours."""

    kernel: Kernel | None = None

    @property
    def extension(self) -> ServerHost:
        return cast("ServerHost", self.extensionapp)

    def recognise_kernel(self) -> bool:
        """Whether the request carries the token of a living kernel."""
        request: Any = self.request  # type: ignore[attr-defined]
        token = request.headers.get(KERNEL_TOKEN_HEADER, "")
        self.kernel = self.extension.kernel_tokens.kernel_of(token) if token else None
        return self.kernel is not None

    async def authorize(self, action: str) -> Caller:
        """Ask Jupyter's authorizer about a user; kernels have been recognised already."""
        from ...api.calls import Caller

        handler: Any = self
        if self.kernel:
            return Caller(self.kernel.owner, self.kernel.id)
        user = handler.current_user
        if user is None:
            raise NotLoggedIn
        if not await ensure_async(
            handler.authorizer.is_authorized(handler, user, action, "cowork")
        ):
            raise web.HTTPError(403, f"You are not authorized to {action} on cowork.")
        return Caller(user.username)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer every failure with the API's error object; never send a traceback."""
        handler: Any = self
        error = kwargs.get("exc_info", (None, None))[1]
        if error and hasattr(error, "as_dict"):
            status_code = status_of(error)
            handler.set_status(status_code)
        body = self.error_object(status_code, error)
        if status_code == 405 and "allow" in body["details"]:
            handler.set_header("Allow", ", ".join(body["details"]["allow"]))
        handler.set_header("Content-Type", "application/json")
        handler.finish(json.dumps({"error": body}))

    def error_object(self, status: int, error: BaseException | None) -> dict[str, Any]:
        as_dict = getattr(error, "as_dict", None)
        return as_dict() if as_dict else _error_object(status, error)


KERNEL_TOKEN_HEADER = "X-Cowork-Kernel-Token"  # noqa: S105 (the name of a header)


class ApiHandler(CallerMixin, APIHandler):
    """Everything below `cowork/` that is neither a socket nor the passthrough."""

    SUPPORTED_METHODS = (*APIHandler.SUPPORTED_METHODS, "QUERY", "TRACE")
    _streaming: asyncio.Task[None] | None = None

    async def prepare(self) -> None:  # type: ignore[override]
        """Recognise kernels before Jupyter asks for a user."""
        self.recognise_kernel()
        await super().prepare()

    def check_xsrf_cookie(self) -> None:
        """Kernels are exempt: no foreign page can send their token's header."""
        if not self.kernel:
            super().check_xsrf_cookie()

    @allow_unauthenticated  # authorizes by itself, as kernels are no users
    async def dispatch(self, *_: str) -> None:
        # Before the lookup: strangers must not learn which addresses exist.
        caller = await self.authorize("read")
        await self.extension.load()
        from ...api.routes import Stream, table

        route, path = table.find(self.request.method or "", self._path())
        caller = await self._admit(route, caller)
        answer = await self.extension.thread.run(self._answer(route, path, caller))
        if isinstance(answer, Stream):
            await self.while_connected(self._send_lines(answer))
        else:
            self.answer(answer, route.status)

    async def _answer(
        self, route: Route, path: dict[str, str], caller: Caller
    ) -> bytes | Download | Stream | None:
        """Call the endpoint, in the service's thread."""
        from pydantic import BaseModel

        from ...api.calls import Call

        service = self.extension.service
        if route.action != "read":
            await service.journal.wait_for_write_lock()
        call = Call(service=service, caller=caller, host=self.extension)
        call = route.read(call, path, self.request.query_arguments, self.request.body)
        answer = await route.endpoint(call)
        if isinstance(answer, BaseModel):
            # Not pydantic's JSON: text of models may hold lone surrogates.
            return json.dumps(answer.model_dump(mode="python")).encode()
        return answer

    get = post = put = delete = patch = head = query = trace = dispatch

    async def _admit(self, route: Route, caller: Caller) -> Caller:
        if caller.kernel_id and not route.kernel:
            raise web.HTTPError(403, "A kernel may not do this. Do it in the browser.")
        return caller if route.action == "read" else await self.authorize(route.action)

    def _path(self) -> str:
        """The path below `cowork/`, still quoted, so that an id cannot smuggle in a slash."""
        return self.request.path.removeprefix(url_path_join(self.base_url, "cowork/"))

    async def while_connected(self, work: Coroutine[Any, Any, None]) -> None:
        """Run this, but cancel it as soon as the client disconnects."""
        self._streaming = asyncio.ensure_future(work)
        try:
            await asyncio.wait({self._streaming})
        finally:
            self._streaming.cancel()
        if not self._streaming.cancelled():
            self._streaming.result()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        if self._streaming:
            self._streaming.cancel()

    async def _send_lines(self, stream: Stream) -> None:
        from ...api.routes import NDJSON

        self.set_header("Content-Type", NDJSON)
        self.set_header("Cache-Control", "no-cache")
        self.set_header("X-Accel-Buffering", "no")  # or a proxy would buffer the lines
        outbox = Outbox(self._send_line)
        try:
            await self.extension.thread.run(_put_lines(stream, outbox))
            await outbox.drain()
        except WebSocketClosedError:
            pass  # the client has gone
        finally:
            outbox.close()

    async def _send_line(self, text: str) -> None:
        self.write(text)
        await self.flush()

    def answer(self, body: bytes | Download | None, status: int) -> None:
        self.set_status(status if body is not None else 204)
        if body is None:
            self.finish()
        elif isinstance(body, bytes):
            self.set_header("Content-Type", "application/json")
            self.finish(body)
        else:
            disposition = f'attachment; filename="{body.file_name}"'
            self.set_header("Content-Disposition", disposition)
            self.finish(body.body, set_content_type=body.content_type)

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Do not log errors that the caller is told in full."""
        if not hasattr(value, "as_dict"):
            super().log_exception(typ, value, tb)


async def _put_lines(stream: Stream, outbox: Outbox) -> None:
    """Runs in the service's thread."""
    async with aclosing(stream.lines) as lines:
        async for line in lines:
            await outbox.put(json.dumps(line.model_dump(mode="json")) + "\n")


def message_of(error: web.HTTPError) -> str:
    """The message of an HTTP error. Tornado keeps a template, with percent signs doubled."""
    return (error.log_message or "") % error.args


def _error_object(status: int, error: BaseException | None) -> dict[str, Any]:
    message = "Something went wrong. See the log of the Jupyter server."
    if isinstance(error, web.HTTPError) and status < 500:
        message = message_of(error) or error.reason or HTTPStatus(status).phrase
    usual = _CODES.get(status, "bad_request" if status < 500 else "internal")
    return {
        "code": error.code if isinstance(error, NotLoggedIn) else usual,
        "message": message,
        "retryable": status >= 500,
        "details": {},
    }
