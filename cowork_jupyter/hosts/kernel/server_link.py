"""The connection to the service in the Jupyter server, with this kernel's own token."""

from __future__ import annotations

import json
import os
import ssl
import threading
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, Literal
from urllib.error import HTTPError
from urllib.parse import urlsplit

from ...domain.errors import CoworkError
from .link import Deliver, Policy, ServerGone

TOKEN_VARIABLE = "COWORK_KERNEL_TOKEN"  # noqa: S105 (the name of a variable)
URL_VARIABLE = "COWORK_SERVER_URL"
_TOKEN_HEADER = "X-Cowork-Kernel-Token"  # noqa: S105 (the name of a header)
_NOT_LOGGED_IN = "unauthenticated"
"""The error code for a kernel whose token is no longer valid."""
_SECONDS = 60.0
_POLL_SECONDS = 20
_GONE = (
    "The Jupyter server does not answer. Check that it is still running; if it was restarted, "
    "restart this kernel too."
)


_UNKNOWN = "The Jupyter server does not know this kernel. Restart the kernel, then try again."


def server_link() -> ServerLink | None:
    """None unless a server with our extension started this kernel."""
    url, token = os.environ.get(URL_VARIABLE), os.environ.get(TOKEN_VARIABLE)
    return _link(url, token) if url and token else None


@cache
def _link(url: str, token: str) -> ServerLink:
    return ServerLink(url, token)


class ServerLink:
    kind: Literal["server"] = "server"
    is_attended = True

    def __init__(self, url: str, token: str) -> None:
        self._root = f"{url.rstrip('/')}/cowork/"
        self._token = token
        # Never over a proxy: the server is local, and a proxy must not see the token.
        handlers: list[Any] = [urllib.request.ProxyHandler({})]
        if urlsplit(url).scheme == "https":
            handlers.append(urllib.request.HTTPSHandler(context=_tls(url)))
        self._opener = urllib.request.build_opener(*handlers)

    def mark_attended(self) -> None: ...

    def cell_waiting(self) -> AbstractContextManager[None]:
        return nullcontext()

    def request(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 (the address is the server's own)
            self._root + path,
            method=method,
            data=json.dumps(body or {}).encode() if method in ("POST", "PUT") else None,
            headers={_TOKEN_HEADER: self._token, "Content-Type": "application/json"},
        )
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                data: bytes = answer.read()
                kind = answer.headers.get_content_type()
        except HTTPError as error:
            raise _error_of(error) from None
        except OSError:
            raise ServerGone(_GONE) from None
        is_file = "Content-Disposition" in answer.headers
        if is_file or not data:
            return data or None
        if kind != "application/json":
            raise ServerGone(_GONE)
        return json.loads(data)

    def send(
        self,
        context_id: str,
        message: dict[str, Any],
        policy: Policy | None,  # noqa: ARG002 (here somebody can be asked)
    ) -> str:
        accepted = self.request("POST", f"context/{context_id}/messages", message)
        return str(accepted["job_id"])

    def execute(
        self,
        context_id: str,
        approval: dict[str, Any],
        policy: Policy | None,  # noqa: ARG002 (here somebody can be asked)
    ) -> str | None:
        """The approval counts only if a person has run this cell."""
        answer = self.request("POST", f"context/{context_id}/plan/execute", approval)
        return answer.get("job_id")  # type: ignore[no-any-return]

    def subscribe(self, context_id: str, after: int, deliver: Deliver) -> Callable[[], None]:
        """Polls in a thread."""
        stopped = threading.Event()

        def poll() -> None:
            seq = after
            while not stopped.is_set():
                address = f"context/{context_id}/events?after={seq}&timeout={_POLL_SECONDS}"
                try:
                    events = self.request("GET", address)["events"]
                except CoworkError:
                    stopped.wait(2.0)
                    continue
                for event in events:
                    if not stopped.is_set():
                        deliver(event)
                        seq = event["seq"]

        threading.Thread(target=poll, name="cowork-events", daemon=True).start()
        return stopped.set


def _tls(url: str) -> ssl.SSLContext:
    """Local servers often have self-signed certificates."""
    context = ssl.create_default_context()
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.startswith("127.") or host == "::1":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _error_of(answer: HTTPError) -> CoworkError:
    """Parse the API's error object; anything else means that the server is gone."""
    with answer:
        try:
            error = json.loads(answer.read())["error"]
            if error["code"] == _NOT_LOGGED_IN:
                return ServerGone(_UNKNOWN)
            return CoworkError(
                error["message"],
                code=error["code"],
                retryable=error["retryable"],
                details={**error["details"], "status": answer.code},
            )
        except (ValueError, TypeError, KeyError, OSError):
            return ServerGone(_GONE)
