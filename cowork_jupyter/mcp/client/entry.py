"""MCP servers in settings files, in the format that other programs share."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ...domain.roles import Permission
from ...domain.validation import field_problems
from ...policy.visible import visible

Source = Literal["user", "workspace"]
Kind = Literal["stdio", "http", "sse"]

MAX_NAME_LENGTH = 60
CALL_SECONDS = 60.0
_KINDS: dict[str, Kind] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamablehttp": "http",
    "sse": "sse",
}


def _as_text(value: object) -> object:
    """Numbers and booleans are common in `env`, where only text is valid."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value


_Text = Annotated[str, Field(max_length=10_000), BeforeValidator(_as_text)]
_Permissions = Annotated[list[Permission], Field(min_length=1)]


class ToolChoice(BaseModel):
    """The user's settings for one tool of a server."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    permissions: _Permissions | None = None
    disabled: bool = False


class ServerEntry(BaseModel):
    """One server, as written. Fields of other programs are ignored: what lets them run tools
    without asking (`autoApprove` and the like) has no effect here.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: Literal["stdio", "http", "sse"] | None = None
    command: _Text = ""
    args: list[_Text] = []
    env: dict[str, _Text] = {}
    cwd: _Text = ""
    url: _Text = ""
    headers: dict[str, _Text] = {}
    timeout: Annotated[float, Field(gt=0, le=3600)] = CALL_SECONDS
    """Seconds that a call may take without any sign of life."""
    disabled: bool = False
    permissions: _Permissions | None = None
    """Permissions that its tools require of a role, if less than running commands."""
    tools: dict[str, ToolChoice] = {}
    sampling: bool = False
    """Whether it may send requests to the model."""


@dataclass(frozen=True)
class ServerConfig:
    name: str
    source: Source
    kind: Kind
    entry: ServerEntry

    @property
    def slug(self) -> str:
        """Its name as part of tools' names: `mcp__slug__tool` must be split in one way only."""
        return re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9-]", "_", self.name)).strip("_") or "x"

    @property
    def identity(self) -> str:
        """Hash of what is started or called, without the secrets."""
        entry = self.entry
        facts = [self.name, self.source, self.kind, entry.command, entry.args, entry.cwd]
        text = json.dumps([*facts, entry.url, sorted(entry.env), sorted(entry.headers)])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def place(self) -> str:
        """For who decides about it."""
        return "a program on this machine" if self.kind == "stdio" else "the network"

    def permissions_for(self, tool: str) -> frozenset[Permission]:
        """Anything unless the user has restricted it: the permission to execute commands."""
        choice = self.entry.tools.get(tool)
        given = (choice.permissions if choice else None) or self.entry.permissions
        return frozenset(given or [Permission.EXECUTE_COMMANDS])

    def leaves_out(self, tool: str) -> bool:
        choice = self.entry.tools.get(tool)
        return choice is not None and choice.disabled


def read_server(name: str, raw: object, source: Source) -> ServerConfig:
    """Raises ValueError with one sentence about what is wrong."""
    if not name.strip() or len(name) > MAX_NAME_LENGTH or visible(name) != name:
        raise ValueError(f"a name must have 1 to {MAX_NAME_LENGTH} visible characters")
    entry = _read_entry(raw)
    if bool(entry.command) == bool(entry.url):
        raise ValueError("it needs either a 'command' to start or a 'url' to call")
    kind = entry.type or _guessed(entry)
    if (kind == "stdio") != bool(entry.command):
        raise ValueError(f"its type is {kind}, which does not match the rest")
    if entry.url and not entry.url.startswith(("http://", "https://", "${")):
        raise ValueError("its url must start with http or https")
    if source == "workspace":
        # A folder cannot say what its own servers may do.
        entry = entry.model_copy(update={"permissions": None, "tools": {}, "sampling": False})
    return ServerConfig(name, source, kind, entry)


def _read_entry(raw: object) -> ServerEntry:
    if not isinstance(raw, dict):
        raise ValueError("it is not an object")
    given: dict[str, Any] = dict(raw)
    kind = given.pop("type", None) or given.pop("transport", None)
    if kind is not None:
        if str(kind).lower() not in _KINDS:
            raise ValueError(f"there is no type '{visible(str(kind))[:40]}'")
        given["type"] = _KINDS[str(kind).lower()]
    if given.get("enabled") is False:
        given["disabled"] = True
    try:
        return ServerEntry.model_validate(given)
    except ValidationError as error:
        raise ValueError(str(field_problems(error)[0])) from None


def _guessed(entry: ServerEntry) -> Kind:
    """Servers of the old protocol are recognized by their address."""
    if entry.command:
        return "stdio"
    return "sse" if entry.url.split("?")[0].rstrip("/").endswith("/sse") else "http"
