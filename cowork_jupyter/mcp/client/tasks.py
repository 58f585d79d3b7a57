"""Long calls of servers that return a handle instead of a result (the tasks extension)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar, Literal

from mcp.client.context import ClientRequestContext
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolResult,
    EmptyResult,
    ErrorData,
    InputRequests,
    InputResponses,
    Request,
    RequestParams,
    Result,
)

from .. import TASKS
from .ongoing import current

_PAUSE, _SHORTEST, _LONGEST = 1.0, 0.1, 30.0
"""Seconds between two polls: the default and the bounds of what the server wants."""
_LAST_WORDS = 2.0
"""Seconds to tell a server that nobody waits any more."""

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]


class TaskHandle(Result):
    result_type: Literal["task"] = "task"
    task_id: str
    poll_interval_ms: int | None = None


class TaskState(Result):
    status: Status
    status_message: str | None = None
    poll_interval_ms: int | None = None
    input_requests: InputRequests | None = None
    result: dict[str, Any] | None = None
    error: ErrorData | None = None


class TaskParams(RequestParams):
    task_id: str


class TaskAnswers(TaskParams):
    input_responses: InputResponses


class GetTask(Request[TaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams
    name_param: ClassVar[str | None] = "taskId"


class UpdateTask(Request[TaskAnswers, Literal["tasks/update"]]):
    method: Literal["tasks/update"] = "tasks/update"
    params: TaskAnswers
    name_param: ClassVar[str | None] = "taskId"


class CancelTask(Request[TaskParams, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: TaskParams
    name_param: ClassVar[str | None] = "taskId"


class Tasks(ClientExtension):
    identifier = TASKS

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Handles are ours to finish."""
        return [ResultClaim(result_type="task", model=TaskHandle, resolve=_result_of)]


async def _result_of(handle: TaskHandle, context: ClaimContext) -> CallToolResult:
    """Polls until there is a result. Cancelling cancels the task."""
    try:
        return await _followed(handle, context.session)
    except asyncio.CancelledError:
        with suppress(Exception):
            async with asyncio.timeout(_LAST_WORDS):
                stop = CancelTask(params=TaskParams(task_id=handle.task_id))
                await context.session.send_request(stop, EmptyResult)
        raise


async def _followed(handle: TaskHandle, session: ClientSession) -> CallToolResult:
    answered: set[str] = set()
    pause, asked = handle.poll_interval_ms, 0
    while True:
        await asyncio.sleep(_seconds(pause))
        which = GetTask(params=TaskParams(task_id=handle.task_id))
        state = await session.send_request(which, TaskState)
        pause, asked = state.poll_interval_ms, asked + 1
        if call := current.get():
            await call.progress(asked, None, state.status_message)
        match state.status:
            case "completed":
                return CallToolResult.model_validate(state.result)
            case "failed":
                raise MCPError.from_error_data(state.error or _unexplained("failed"))
            case "cancelled":
                raise MCPError.from_error_data(_unexplained("was cancelled by the server"))
        new = {k: v for k, v in (state.input_requests or {}).items() if k not in answered}
        if new:
            answered |= new.keys()
            responses = await _answers(new, session)
            answers = TaskAnswers(task_id=handle.task_id, input_responses=responses)
            await session.send_request(UpdateTask(params=answers), EmptyResult)


async def _answers(requests: InputRequests, session: ClientSession) -> InputResponses:
    """Sequentially, because one person answers them."""
    responses: InputResponses = {}
    for key, request in requests.items():
        meta = request.params.meta if request.params else None
        context = ClientRequestContext(session=session, request_id=key, meta=meta)
        answer = await session.dispatch_input_request(context, request)
        if isinstance(answer, ErrorData):
            raise MCPError.from_error_data(answer)
        responses[key] = answer
    return responses


def _seconds(milliseconds: int | None) -> float:
    wanted = _PAUSE if milliseconds is None else milliseconds / 1000
    return min(max(wanted, _SHORTEST), _LONGEST)


def _unexplained(how: str) -> ErrorData:
    return ErrorData(code=INTERNAL_ERROR, message=f"the task {how}")
