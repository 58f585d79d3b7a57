"""Results of a server, within bounds and without our secrets."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...domain.errors import CoworkError
from ...domain.messages import ImagePart
from ...domain.redaction import Mask
from ...tools.base import ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

MAX_TEXT = 1_000_000
MAX_IMAGES, MAX_IMAGE_SIZE = 8, 5 * 2**20
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class ToolFailed(CoworkError):
    code = "tool_failed"


@dataclass
class Gathered:
    """Accumulates pieces of content."""

    mask: Mask
    texts: list[str] = field(default_factory=list)
    images: list[ImagePart] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    room: int = MAX_TEXT

    def add(self, block: ContentBlock) -> None:
        """Content that cannot be kept is named."""
        match block.type:
            case "text":
                self.say(block.text)
            case "image":
                self._picture(block.data, block.mime_type)
            case "audio":
                self.say(f"[audio of type {block.mime_type}, not kept]")
            case "resource_link":
                self._link(str(block.uri), block.name, block.mime_type)
            case "resource":
                self.add_resource(block.resource)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    def say(self, text: str) -> None:
        kept = self.mask(text)[: self.room]
        self.room -= len(kept)
        if len(text) > len(kept) and not self.room:
            kept += "\n[The rest was cut: the result is too large.]"
        if kept:
            self.texts.append(kept)

    def _picture(self, data: str, mime_type: str) -> None:
        size = _size(data)
        kept = mime_type in _PICTURES and size <= MAX_IMAGE_SIZE and len(self.images) < MAX_IMAGES
        if kept and _is_base64(data):
            self.images.append(ImagePart(media_type=mime_type, data=data))
        note = "" if kept else ", not kept"
        self.say(f"[a picture: {mime_type}, {size:,} bytes{note}]")

    def _link(self, uri: str, name: str, mime_type: str | None) -> None:
        uri = self.mask(uri)[:2_000]
        self.resources.append({"uri": uri, "name": self.mask(name)[:200], "mime_type": mime_type})
        self.say(f"[resource {uri}]")

    def add_resource(self, resource: Any) -> None:
        mime_type = resource.mime_type or ""
        self._link(str(resource.uri), "", mime_type)
        text, blob = getattr(resource, "text", None), getattr(resource, "blob", None)
        if isinstance(text, str):
            self.say(text)
        elif isinstance(blob, str) and mime_type in _PICTURES:
            self._picture(blob, mime_type)
        elif isinstance(blob, str):
            self.say(f"[{_size(blob):,} bytes of {mime_type or 'unknown type'}, not kept]")


def _size(data: str) -> int:
    """Of the decoded base64."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def _is_base64(data: str) -> bool:
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def result_of(answer: CallToolResult, server: str, tool: str, mask: Mask) -> ToolResult:
    """Raises ToolFailed if the server reports an error."""
    gathered = Gathered(mask)
    for block in answer.content:
        gathered.add(block)
    if answer.structured_content is not None and not gathered.texts:
        gathered.say(json.dumps(answer.structured_content, ensure_ascii=False, indent=1))
    if answer.is_error:
        said = gathered.text[:4_000] or "it gave no reason"
        raise ToolFailed(f"{tool} of the MCP server '{server}' failed: {said}", retryable=True)
    data: dict[str, Any] = {"mcp_server": server, "mcp_tool": tool}
    if gathered.resources:
        data["resources"] = gathered.resources[:100]
    return ToolResult(
        text=gathered.text or "Done, without output.",
        summary=f"{server} answered {tool}",
        data=data,
        images=tuple(gathered.images),
    )
