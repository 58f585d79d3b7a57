"""The language model: build requests, stream replies, parse what the model writes.

`client` streams chunks, `reader` turns them into a `Reply`, `protocols` shapes the request. The
OpenAI library is imported with the first request, not before.
"""

from .chunks import Chunk, Finished, ModelRequest, Restarted, UsageChunk
from .client import Model
from .failures import ContextOverflow, ModelError, RetryPolicy
from .protocols import ToolSpec, request_arguments
from .reader import ReplyReader
from .reply import Delta, ReasoningDelta, Reply, TextDelta

__all__ = [
    "Chunk",
    "ContextOverflow",
    "Delta",
    "Finished",
    "Model",
    "ModelError",
    "ModelRequest",
    "ReasoningDelta",
    "Reply",
    "ReplyReader",
    "Restarted",
    "RetryPolicy",
    "TextDelta",
    "ToolSpec",
    "UsageChunk",
    "request_arguments",
]
