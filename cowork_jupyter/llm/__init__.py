"""The language model: asking it, reading what it writes, telling it what it may write.

`client` streams chunks, `reader` makes a `Reply` of them, `protocols` shapes the request.
The OpenAI library is imported with the first question, not before.
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
