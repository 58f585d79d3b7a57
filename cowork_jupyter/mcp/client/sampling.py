"""A server puts a question to the model: only one that the user has allowed to, and in text."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from ...llm.chunks import Finished, ModelRequest, TextChunk

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
    if sum(len(one["content"]) for one in messages) > MAX_CHARACTERS:
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
