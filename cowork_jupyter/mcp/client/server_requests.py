"""What a server may want from us in the middle of a call: an answer of the user or the model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

from ...domain.errors import CoworkError
from ...domain.operations import OK, McpSampled, Observe, ignore_operation
from ...llm.chunks import Finished, ModelRequest, TextChunk
from .entry import ServerConfig
from .ongoing import Ongoing, current

if TYPE_CHECKING:
    from mcp_types import CreateMessageRequestParams, CreateMessageResult, ErrorData

    from ...llm.client import LanguageModel

MAX_TOKENS, MAX_CHARACTERS = 4_096, 200_000


async def sample(
    model: LanguageModel, params: CreateMessageRequestParams
) -> CreateMessageResult | ErrorData:
    """The model's answer. It gets the server's messages and nothing of any conversation."""
    from mcp_types import INVALID_REQUEST, CreateMessageResult, ErrorData, TextContent

    messages = [{"role": "system", "content": params.system_prompt}] if params.system_prompt else []
    for message in params.messages:
        for block in message.content_as_list:
            if not isinstance(block, TextContent):
                return ErrorData(
                    code=INVALID_REQUEST, message="Only text is supported for sampling."
                )
            messages.append({"role": message.role, "content": block.text})
    if sum(len(message["content"]) for message in messages) > MAX_CHARACTERS:
        return ErrorData(code=INVALID_REQUEST, message="The request is too long for sampling.")
    text, reason = "", "endTurn"
    request = ModelRequest(messages, arguments={"max_tokens": min(params.max_tokens, MAX_TOKENS)})
    async with aclosing(model.stream(request)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextChunk):
                text += chunk.text
            elif isinstance(chunk, Finished) and chunk.reason == "length":
                reason = "maxTokens"
    content = TextContent(type="text", text=text)
    return CreateMessageResult(
        role="assistant", content=content, model=model.name or "model", stop_reason=reason
    )


if TYPE_CHECKING:
    from mcp_types import (
        CreateMessageRequestParams,
        CreateMessageResult,
        ElicitRequestParams,
        ElicitResult,
        ErrorData,
    )

    from ...llm.client import LanguageModel


class Wishes:
    """Those of one server. Outside of its calls it has none to be fulfilled."""

    def __init__(
        self,
        config: ServerConfig,
        model: Callable[[], LanguageModel],
        observe: Observe = ignore_operation,
    ) -> None:
        self._config = config
        self._model = model
        self._observe = observe
        self._calls: list[Ongoing] = []

    @contextmanager
    def during(self, call: Ongoing) -> Iterator[None]:
        """What comes meanwhile belongs to this call, unless it says otherwise itself."""
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls.remove(call)

    async def elicit(self, context: object, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG002
        """Ask the user; declined where that makes no sense."""
        from mcp_types import ElicitResult

        from .elicitation import elicit

        # Older servers do not say in which call they ask: then it is in the newest.
        call = current.get() or (self._calls[-1] if self._calls else None)
        if call is None:
            return ElicitResult(action="decline")
        return await elicit(self._config.name, params, call.ask)

    async def sample(
        self,
        context: object,  # noqa: ARG002
        params: CreateMessageRequestParams,
    ) -> CreateMessageResult | ErrorData:
        """Ask the model, if the user has said that this server may."""
        from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, ErrorData

        from .server_requests import sample

        if not self._config.entry.sampling or not self._calls:
            return ErrorData(code=INVALID_REQUEST, message="Sampling is not allowed here.")
        began, status = time.monotonic(), "stopped"
        try:
            answer = await sample(self._model(), params)
            status = "invalid" if isinstance(answer, ErrorData) else OK
            return answer
        except CoworkError as error:
            status = error.code
            return ErrorData(code=INTERNAL_ERROR, message=error.message)
        finally:
            seconds = time.monotonic() - began
            self._observe(McpSampled(self._config.name, status, seconds))
