"""The tasks extension of the protocol: a long call returns a handle to poll."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import (
    HEADER_MISMATCH,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ClientCapabilities,
    InputResponses,
    RequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from .. import TASKS
from .calls import KEPT, OngoingCall, OngoingCalls

POLL_MILLISECONDS = 1_000

Context = ServerRequestContext[Any, Any]
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
        **({"statusMessage": call.said} if call.said else {}),
        "createdAt": call.created.isoformat(),
        "lastUpdatedAt": call.updated.isoformat(),
        "ttlMs": int(kept.total_seconds() * 1000) if call.is_over else None,
        "pollIntervalMs": POLL_MILLISECONDS,
    }


def _wire(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found
