"""What a server reports about itself, as plain values: bounded, comparable, and cached on disk.

Cached, so that a server need not be started to describe tools that nobody calls. The cache is
compared with the server's current description when a tool is called.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...domain.redaction import Mask
from ...policy.visible import visible
from .config import ServerConfig

if TYPE_CHECKING:
    from mcp_types import Tool as SdkTool

MAX_TOOLS = 500
MAX_NAME_LENGTH, MAX_DESCRIPTION_LENGTH, MAX_SCHEMA_SIZE = 128, 20_000, 64_000
_HINTS = {
    "read_only_hint": "read-only",
    "destructive_hint": "destructive",
    "idempotent_hint": "idempotent",
    "open_world_hint": "reaching out",
}


@dataclass(frozen=True)
class McpToolFacts:
    name: str
    description: str
    schema: dict[str, Any]
    title: str = ""
    hints: dict[str, bool] = field(default_factory=dict)
    """Its claims, such as `{"read-only": True}`. Displayed, but never trusted."""
    problem: str = ""

    def fingerprint(self, config: ServerConfig) -> str:
        """Identifies the server, the name, the description and the parameters."""
        text = json.dumps([config.identity, self.name, self.description, self.schema])
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True)
class McpServerFacts:
    tools: tuple[McpToolFacts, ...] = ()
    has_resources: bool = False


def facts_of(tool: SdkTool, mask: Mask) -> McpToolFacts:
    name, description = visible(tool.name), mask(tool.description or "")
    problem = ""
    if not 0 < len(tool.name) <= MAX_NAME_LENGTH or name != tool.name:
        problem = "its name is empty, too long, or contains invisible characters"
    elif len(description) > MAX_DESCRIPTION_LENGTH:
        problem = f"its description has more than {MAX_DESCRIPTION_LENGTH:,} characters"
    elif _size(tool.input_schema) > MAX_SCHEMA_SIZE:
        problem = f"its parameters take more than {MAX_SCHEMA_SIZE:,} characters to describe"
    claimed = tool.annotations
    hints = {word: getattr(claimed, hint, None) for hint, word in _HINTS.items()}
    title: str = tool.title or (claimed.title if claimed else None) or ""
    return McpToolFacts(
        name=name[:MAX_NAME_LENGTH],
        description=description[:MAX_DESCRIPTION_LENGTH],
        schema={} if problem else mask.everywhere(tool.input_schema),
        title=visible(mask(title))[:MAX_NAME_LENGTH],
        hints={word: claim for word, claim in hints.items() if isinstance(claim, bool)},
        problem=problem,
    )


def _size(schema: Mapping[str, Any]) -> int:
    try:
        return len(json.dumps(schema))
    except (ValueError, RecursionError):
        return MAX_SCHEMA_SIZE + 1


class KnownTools:
    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, config: ServerConfig) -> McpServerFacts | None:
        """None if it never ran, or its configuration changed."""
        with contextlib.suppress(KeyError, TypeError, AttributeError):
            known = self._read()[config.identity]
            tools = tuple(McpToolFacts(**tool) for tool in known["tools"])
            return McpServerFacts(tools, has_resources=known["has_resources"] is True)
        return None

    def keep(self, config: ServerConfig, facts: McpServerFacts, used: set[str]) -> None:
        """Also drops servers that are not in `used`."""
        rest = {key: known for key, known in self._read().items() if key in used}
        content = {**rest, config.identity: asdict(facts)}
        with contextlib.suppress(OSError):  # then it is asked again next time
            self._file.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._file.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_text(json.dumps(content, ensure_ascii=False), "utf-8", "replace")
            temporary.replace(self._file)

    def _read(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError):
            content = json.loads(self._file.read_text("utf-8"))
            if isinstance(content, dict):
                return content
        return {}
