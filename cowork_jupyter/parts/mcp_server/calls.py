"""Calls that outlive the request that began them.

A client may come back for a call: with an answer that it waits for, or to poll a long one. So
none is lost to a client's timeout.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    ClientCapabilities,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputResponses,
    RequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from .tool_host import Consent, GuestCaller, Tell

ALLOW, DENY = "allow", "deny"

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Allow this call, once?", "enum": [ALLOW, DENY]},
        "reason": {"type": "string", "title": "Reason, for the agent"},
    },
    "required": ["decision"],
}


def can_ask(client: ClientCapabilities | None) -> bool:
    """Whether the client shows forms; one that only opens URLs does not."""
    modes = client.elicitation if client else None
    return modes is not None and (modes.form is not None or modes.url is None)


def request_of(text: str) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=text, requested_schema=FORM))


def consent_of(answer: object) -> Consent | None:
    """None if the form was closed, or this is not an answer to it."""
    if not isinstance(answer, ElicitResult) or answer.action == "cancel":
        return None
    content = answer.content or {}
    reason = str(content.get("reason") or "")
    return Consent(answer.action == "accept" and content.get("decision") == ALLOW, reason)


MAX_CALLS = 200
"""Open at the same time, or ended and not expired yet, per host."""
KEPT = timedelta(hours=1)

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]
Run = Callable[[GuestCaller], Coroutine[Any, Any, CallToolResult]]


@dataclass
class _Question:
    text: str
    answer: asyncio.Future[Consent | None]


class OngoingCall:
    def __init__(self, tool: str, arguments: dict[str, Any]) -> None:
        self.id = secrets.token_urlsafe(24)
        """A capability: whoever knows it, at the same host, may come back for the call."""
        self.tool, self.arguments = tool, arguments
        self.created = self.updated = _now()
        self.progress = ""
        self.listener: Tell | None = None
        self._questions: dict[str, _Question] = {}
        self._asked = 0
        self._changed = asyncio.Event()
        self._running: asyncio.Task[CallToolResult]

    def begin(self, run: Run, name: str, *, asks: bool) -> None:
        caller = GuestCaller(name, self._tell, self._ask if asks else None)
        self._running = asyncio.create_task(run(caller))
        self._running.add_done_callback(self._mark)

    @property
    def status(self) -> Status:
        if not self._running.done():
            return "input_required" if self._questions else "working"
        if self._running.cancelled():
            return "cancelled"
        return "failed" if self._running.exception() else "completed"

    @property
    def is_over(self) -> bool:
        return self._running.done()

    @property
    def result(self) -> CallToolResult:
        """Raises MCPError if it failed or was cancelled."""
        if self._running.cancelled():
            raise MCPError(code=INVALID_PARAMS, message=f"{self.tool} was cancelled.")
        return self._running.result()

    @property
    def error(self) -> MCPError | None:
        failure = None if self._running.cancelled() else self._running.exception()
        return failure if isinstance(failure, MCPError) else None

    @property
    def questions(self) -> dict[str, ElicitRequest]:
        """Open questions, by keys that are used once."""
        return {key: request_of(question.text) for key, question in self._questions.items()}

    def answer(self, responses: Mapping[str, object]) -> None:
        """Answers to questions that are not open are ignored."""
        for key, response in responses.items():
            question = self._questions.pop(key, None)
            if question is not None and not question.answer.done():
                question.answer.set_result(consent_of(response))

    async def wait(self, patience: float | None) -> None:
        """Wait until it has ended or asks something, at most `patience` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while not self.is_over and not self._questions:
                    self._changed.clear()
                    await self._changed.wait()

    def cancel(self) -> None:
        self._running.cancel()

    async def _tell(self, text: str) -> None:
        self.progress, self.updated = text, _now()
        if self.listener is not None:
            await self.listener(text)

    async def _ask(self, text: str) -> Consent | None:
        self._asked += 1
        key, question = f"approval-{self._asked}", _Question(text, asyncio.Future())
        self._questions[key] = question
        self._mark()
        try:
            return await question.answer
        finally:
            self._questions.pop(key, None)
            self._mark()

    def _mark(self, *_: object) -> None:
        self.updated = _now()
        self._changed.set()
        if self._running.done() and not self._running.cancelled():
            self._running.exception()  # retrieved, in case nobody comes back for it


@dataclass
class OngoingCalls:
    _known: dict[str, OngoingCall] = field(default_factory=dict)

    def new(self, tool: str, arguments: dict[str, Any]) -> OngoingCall:
        """A call that has not begun; also drops expired ones."""
        expired = _now() - KEPT
        for known in [*self._known.values()]:
            if known.is_over and known.updated < expired:
                self.drop(known)
        if len(self._known) >= MAX_CALLS:
            message = f"More than {MAX_CALLS} calls are waiting; answer some first."
            raise MCPError(code=INVALID_PARAMS, message=message)
        call = OngoingCall(tool, arguments)
        self._known[call.id] = call
        return call

    def find(self, call_id: str) -> OngoingCall:
        if call_id not in self._known:
            raise MCPError(
                code=INVALID_PARAMS, message="This call is unknown here, or has expired."
            )
        return self._known[call_id]

    def drop(self, call: OngoingCall) -> None:
        self._known.pop(call.id, None)


def _now() -> datetime:
    return datetime.now(UTC)


POLL_MILLISECONDS = 1_000

Context = ServerRequestContext[Any, Any]
TASKS = "io.modelcontextprotocol/tasks"
"""The extension for long-running calls."""
_NEEDED = ClientCapabilities(extensions={TASKS: {}})


class TaskQuery(RequestParams):
    """`tasks/get` and `tasks/cancel`."""

    task_id: str


class TaskAnswer(TaskQuery):
    """`tasks/update`."""

    input_responses: InputResponses


def takes_tasks(context: Context) -> bool:
    """Whether a handle may be returned instead of a result: each request says so for itself."""
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return is_modern and context.session.check_client_capability(_NEEDED)


def add_tasks(server: Server[Any], calls: OngoingCalls) -> None:
    def found(context: Context, params: TaskQuery) -> OngoingCall:
        _check(context, params.task_id)
        return calls.find(params.task_id)

    async def get(context: Context, params: TaskQuery) -> dict[str, Any]:
        return details(found(context, params))

    async def update(context: Context, params: TaskAnswer) -> dict[str, Any]:
        found(context, params).answer(params.input_responses)
        return {}

    async def cancel(context: Context, params: TaskQuery) -> dict[str, Any]:
        found(context, params).cancel()
        return {}

    server.extensions[TASKS] = {}
    server.add_request_handler("tasks/get", TaskQuery, get)
    server.add_request_handler("tasks/update", TaskAnswer, update)
    server.add_request_handler("tasks/cancel", TaskQuery, cancel)


def _check(context: Context, task_id: str) -> None:
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")
    if not takes_tasks(context):
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This needs the tasks extension.",
            data={"requiredCapabilities": _NEEDED.model_dump(by_alias=True, exclude_none=True)},
        )
    headers = context.request.headers if context.request else {}
    named = decode_header_value(headers.get(MCP_NAME_HEADER))
    if named is not None and named != task_id:  # proxies go by the header
        raise MCPError(code=HEADER_MISMATCH, message="Mcp-Name names another task.")


def handle(call: OngoingCall) -> dict[str, Any]:
    return {"resultType": "task", **_facts(call)}


def details(call: OngoingCall) -> dict[str, Any]:
    found = {"resultType": "complete", **_facts(call)}
    match call.status:
        case "input_required":
            requests = {key: _wire(question) for key, question in call.questions.items()}
            return {**found, "inputRequests": requests}
        case "completed":
            return {**found, "result": {"resultType": "complete", **_wire(call.result)}}
        case "failed":
            error = call.error
            reason = _wire(error.error) if error else {"code": -32603, "message": "It failed."}
            return {**found, "error": reason}
    return found


def _facts(call: OngoingCall) -> dict[str, Any]:
    kept = call.updated - call.created + KEPT
    return {
        "taskId": call.id,
        "status": call.status,
        **({"statusMessage": call.progress} if call.progress else {}),
        "createdAt": call.created.isoformat(),
        "lastUpdatedAt": call.updated.isoformat(),
        "ttlMs": int(kept.total_seconds() * 1000) if call.is_over else None,
        "pollIntervalMs": POLL_MILLISECONDS,
    }


def _wire(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found
