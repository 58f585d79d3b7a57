from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...domain.errors import Conflict, InvalidInput, NotFound
from ...policy.rulebook import WORKSPACE_SETTINGS, server_offer
from ...policy.settings_file import SettingsFile
from ...policy.trust import Trust
from ...policy.visible import visible
from .entry import ServerConfig, Source, read_server

SERVERS, DISABLED = "mcpServers", "disabledMcpServers"
MAX_SERVERS = 100


@dataclass(frozen=True)
class Configured:
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
    """The servers of all settings files, reloaded when these change."""

    def __init__(self, workspace: Path, user_settings: Path, trust: Trust) -> None:
        self._files: dict[Source, SettingsFile] = {
            "user": SettingsFile(user_settings),
            "workspace": SettingsFile(workspace / WORKSPACE_SETTINGS),
        }
        self._trust = trust
        self._read: tuple[list[Any], tuple[Configured, ...]] = ([], ())

    def all(self) -> tuple[Configured, ...]:
        """The user's own come first. Returns the same object until something changes."""
        sources = [*(file.content() for file in self._files.values()), self._trust.taken()]
        known, servers = self._read
        if known != sources:
            servers = self._look()
            self._read = (sources, servers)
        return servers

    def add(self, name: str, raw: dict[str, Any]) -> ServerConfig:
        """Write a valid entry into the user's settings."""
        try:
            config = read_server(name, raw, "user")
        except ValueError as error:
            raise InvalidInput(f"'{visible(name)}': {error}.", code="invalid_server") from error
        taken = {
            server.config.slug: server
            for server in self.all()
            if server.config and server.source == "user"
        }
        other = taken.get(config.slug)
        if other and other.name != name:
            raise Conflict(f"Its tools would have the same names as those of '{other.name}'.")
        if len(self._of("user")) >= MAX_SERVERS:
            raise Conflict(f"There are already {MAX_SERVERS} servers.")
        self._files["user"].set(SERVERS, {**self._of("user"), name: raw})
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

    def _named(self, name: str) -> Configured:
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

    def _look(self) -> tuple[Configured, ...]:
        found: list[Configured] = []
        slugs: dict[str, Configured] = {}
        for source in self._files:
            for name, raw in list(self._of(source).items())[:MAX_SERVERS]:
                server = self._judged(str(name), raw, source)
                slug = server.config.slug if server.config else ""
                if slug in slugs:
                    why = f"'{slugs[slug].name}' ({slugs[slug].source}) takes precedence"
                    server = Configured(server.name, source, server.config, why, server.enabled)
                elif slug:
                    slugs[slug] = server
                found.append(server)
        return tuple(found)

    def _judged(self, name: str, raw: object, source: Source) -> Configured:
        try:
            config = read_server(name, raw, source)
        except ValueError as error:
            return Configured(visible(name)[:100], source, None, f"{error}")
        enabled = not config.entry.disabled
        if source == "workspace":
            enabled = enabled and name not in self._disabled()
            if not self._trust.is_trusted(server_offer(name, raw)):
                return Configured(
                    name, source, config, "it came with this folder and is not trusted", enabled
                )
        return Configured(name, source, config, enabled=enabled)
