"""MCP servers in settings files, in the format that other programs share."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ...domain.base_models import field_problems
from ...domain.errors import Conflict, InvalidInput, NotFound
from ...domain.roles import Permission
from ...policy.rulebook import WORKSPACE_SETTINGS, server_offer
from ...policy.settings_file import SettingsFile
from ...policy.trust import Trust
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
    kind = entry.type or _guess_kind(entry)
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


def _guess_kind(entry: ServerEntry) -> Kind:
    """Servers of the old protocol are recognized by their address."""
    if entry.command:
        return "stdio"
    return "sse" if entry.url.split("?")[0].rstrip("/").endswith("/sse") else "http"


SERVERS, DISABLED = "mcpServers", "disabledMcpServers"
MAX_SERVERS = 100


@dataclass(frozen=True)
class ConfiguredServer:
    """A server in a settings file, and why it is not used, if so."""

    name: str
    source: Source
    config: ServerConfig | None
    why_not: str = ""
    enabled: bool = True

    @property
    def in_use(self) -> bool:
        return self.config is not None and not self.why_not and self.enabled


class ConfiguredServers:
    def __init__(self, workspace: Path, user_settings: Path, trust: Trust) -> None:
        self._files: dict[Source, SettingsFile] = {
            "user": SettingsFile(user_settings),
            "workspace": SettingsFile(workspace / WORKSPACE_SETTINGS),
        }
        self._trust = trust
        self._read: tuple[list[Any], tuple[ConfiguredServer, ...]] = ([], ())

    def all(self) -> tuple[ConfiguredServer, ...]:
        """The user's own come first. Returns the same object until something changes."""
        sources = [*(file.content() for file in self._files.values()), self._trust.taken()]
        known, servers = self._read
        if known != sources:
            servers = self._load()
            self._read = (sources, servers)
        return servers

    def add(self, name: str, raw: dict[str, Any]) -> ServerConfig:
        try:
            config = read_server(name, raw, "user")
        except ValueError as error:
            raise InvalidInput(f"'{visible(name)}': {error}.", code="invalid_server") from error
        own = [server for server in self.all() if server.source == "user"]
        for server in own:
            if server.config and server.config.slug == config.slug and server.name != name:
                raise Conflict(f"Its tools would have the same names as those of '{server.name}'.")
        servers = self._of("user")
        if len(servers) >= MAX_SERVERS:
            raise Conflict(f"There are already {MAX_SERVERS} servers.")
        self._files["user"].set(SERVERS, {**servers, name: raw})
        return config

    def remove(self, name: str) -> None:
        servers = self._of("user")
        if name not in servers:
            self._named(name)
            raise Conflict(
                "This server came with the workspace. Disable it, or stop trusting the folder.",
                code="not_yours",
            )
        rest = {key: server for key, server in servers.items() if key != name}
        self._files["user"].set(SERVERS, rest or None)

    def enable(self, name: str, enabled: bool) -> None:
        """A server of the workspace is disabled in the user's settings, not in its own file."""
        server = self._named(name)
        if server.source == "user":
            raw = {key: v for key, v in self._of("user")[name].items() if key != "enabled"}
            changed = {**raw, "disabled": not enabled}
            self._files["user"].set(SERVERS, {**self._of("user"), name: changed})
            return
        disabled = [each for each in self._disabled() if each != name]
        self._files["user"].set(DISABLED, (disabled if enabled else [*disabled, name]) or None)

    def _named(self, name: str) -> ConfiguredServer:
        for server in self.all():
            if server.name == name:
                return server
        raise NotFound(f"There is no MCP server '{visible(name)[:100]}'.")

    def _of(self, source: Source) -> dict[str, Any]:
        servers = self._files[source].content().get(SERVERS)
        return servers if isinstance(servers, dict) else {}

    def _disabled(self) -> list[str]:
        names = self._files["user"].content().get(DISABLED)
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []

    def _load(self) -> tuple[ConfiguredServer, ...]:
        found: list[ConfiguredServer] = []
        slugs: dict[str, ConfiguredServer] = {}
        for source in self._files:
            for name, raw in list(self._of(source).items())[:MAX_SERVERS]:
                server = self._check(str(name), raw, source)
                slug = server.config.slug if server.config else ""
                if slug in slugs:
                    why = f"'{slugs[slug].name}' ({slugs[slug].source}) takes precedence"
                    server = replace(server, why_not=why)
                elif slug:
                    slugs[slug] = server
                found.append(server)
        return tuple(found)

    def _check(self, name: str, raw: object, source: Source) -> ConfiguredServer:
        try:
            config = read_server(name, raw, source)
        except ValueError as error:
            return ConfiguredServer(visible(name)[:100], source, None, f"{error}")
        enabled, why_not = not config.entry.disabled, ""
        if source == "workspace":
            enabled = enabled and name not in self._disabled()
            if not self._trust.is_trusted(server_offer(name, raw)):
                why_not = "it came with this folder and is not trusted"
        return ConfiguredServer(name, source, config, why_not, enabled)
