"""What a request consists of beside the conversation: all that the tool protocol decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...domain.settings import ToolProtocol


@dataclass(frozen=True)
class RequestForm:
    system: str
    protocol: ToolProtocol = "json"
    arguments: dict[str, Any] = field(default_factory=dict)
    """What the protocol adds to each request."""
    tools: frozenset[str] = frozenset()
    """The tools that the model is told about."""
    memory: str = ""
    """What is remembered of the workspace; the prompt contains it too."""
    runs_code: bool = False
    """Whether a block of Python in a reply is a call of `run_code`."""

    @property
    def is_native(self) -> bool:
        """Whether calls and results use the API's own form."""
        return "tools" in self.arguments
