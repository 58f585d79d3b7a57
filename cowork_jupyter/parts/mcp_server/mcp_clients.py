"""MCP clients: the form of a server's entry in each, and its configuration file."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...domain.errors import InvalidInput

if TYPE_CHECKING:  # pydantic is slow to import, and every command imports this
    from pydantic import JsonValue

    Entry = dict[str, JsonValue]

SERVER = "cowork"
"""Our name in clients."""
TOKEN_VARIABLE = "JUPYTER_TOKEN"  # noqa: S105 (the name of a variable)
"""Jupyter reads its own token from it, too."""
_PATIENCE = 24 * 3600
"""Seconds that a call may take: cells run long, and people are asked."""


@dataclass(frozen=True)
class Access:
    """An address, or a command where no server runs."""

    url: str = ""
    token: str = ""
    """Written into the configuration; if empty, the configuration says where to find it."""
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class McpClient:
    """A client whose configuration is JSON."""

    label: str
    file: str
    """Relative to the project's folder, or from home (`~`)."""
    section: str = "mcpServers"
    address: str = "url"
    token: str = f"${{{TOKEN_VARIABLE}}}"
    """Placeholder for the token."""
    remote: Mapping[str, JsonValue] = field(default_factory=dict)
    """Further fields of a server that has an address."""
    question: Entry | None = None
    """How it asks the user for the token, if it does."""

    @property
    def path(self) -> Path:
        return Path(self.file).expanduser().absolute()

    def entry(self, access: Access) -> Entry:
        if access.command:
            kind: Entry = {"type": "stdio"} if "type" in self.remote else {}
            return {**kind, **_command(access)}
        return {
            **self.remote,
            self.address: access.url,
            "headers": {"Authorization": f"Bearer {access.token or self.token}"},
        }

    def merge(self, text: str, access: Access) -> str:
        """Add our entry to the text of its file, leaving everything else."""
        before = self._read(text)
        servers = before.get(self.section, {})
        asked = before.get("inputs", [])
        if not isinstance(servers, dict) or not isinstance(asked, list):
            raise self.refusal("its servers are not where they should be")
        after = {**before, self.section: {**servers, SERVER: self.entry(access)}}
        if self.question and access.url and not access.token and self.question not in asked:
            after["inputs"] = [*asked, self.question]
        return text if after == before else f"{json.dumps(after, indent=2, ensure_ascii=False)}\n"

    def _read(self, text: str) -> Entry:
        try:
            content = json.loads(text) if text.strip() else {}
        except ValueError as error:
            raise self.refusal(f"it is not plain JSON ({error})") from None
        if not isinstance(content, dict):
            raise self.refusal("it is not a JSON object")
        return content

    def refusal(self, why: str) -> InvalidInput:
        """The error for a file that only the user can change."""
        return InvalidInput(
            f"{self.path} was not changed: {why}. Correct it, or run this without --write and "
            "add by hand what is printed."
        )


class CodexClient(McpClient):
    """Its configuration is TOML, which is edited as text to keep comments."""

    @property
    def path(self) -> Path:
        home = os.environ.get("CODEX_HOME")
        return Path(home, "config.toml").absolute() if home else super().path

    def entry(self, access: Access) -> Entry:
        if access.command:
            return _command(access)
        login: Entry = (
            {"http_headers": {"Authorization": f"Bearer {access.token}"}}
            if access.token
            else {"bearer_token_env_var": TOKEN_VARIABLE}
        )
        return {"url": access.url, **login, "tool_timeout_sec": _PATIENCE}

    def merge(self, text: str, access: Access) -> str:
        """Replace our table, or append it."""
        before, entry = self._read(text), self.entry(access)
        servers = before.get(self.section, {})
        if not isinstance(servers, dict):
            raise self.refusal("its servers are not where they should be")
        if servers.get(SERVER) == entry:
            return text
        lines = [f"{key} = {_toml(value)}" for key, value in entry.items()]
        rest = _OUR_TABLE.sub("", text).strip()
        table = "\n".join([f"[{self.section}.{SERVER}]", *lines, ""])
        made = f"{rest}\n\n{table}" if rest else table
        try:
            same = self._read(made) == {**before, self.section: {**servers, SERVER: entry}}
        except InvalidInput:
            same = False
        if not same:
            raise self.refusal(f"it has an entry '{SERVER}' in a form of its own")
        return made

    def _read(self, text: str) -> Entry:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise self.refusal(f"it is not TOML ({error})") from None


_OUR_TABLE = re.compile(
    rf"^\[mcp_servers\.{SERVER}(?:\.[^\]\n]*)?\][^\n]*\n?(?:[^\s\[#][^\n]*\n?)*", re.MULTILINE
)
"""Up to an empty line, a comment or another table; leftovers are noticed afterwards."""


def _command(access: Access) -> Entry:
    program, *arguments = access.command
    return {"command": program, "args": [*arguments]}


def _toml(value: JsonValue) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    return json.dumps(value)  # strings, numbers and lists are the same in TOML


_MILLISECONDS = _PATIENCE * 1000
CLIENTS: Mapping[str, McpClient] = {
    "claude-code": McpClient(
        "Claude Code", ".mcp.json", remote={"type": "http", "timeout": _MILLISECONDS}
    ),
    "codex": CodexClient("Codex", "~/.codex/config.toml", section="mcp_servers"),
    "gemini": McpClient(
        "Gemini CLI", ".gemini/settings.json", address="httpUrl", remote={"timeout": _MILLISECONDS}
    ),
    "cursor": McpClient("Cursor", ".cursor/mcp.json", token=f"${{env:{TOKEN_VARIABLE}}}"),
    "vscode": McpClient(
        "VS Code",
        ".vscode/mcp.json",
        section="servers",
        token="${input:jupyter-token}",  # noqa: S106 (what stands for it)
        remote={"type": "http"},
        question={
            "type": "promptString",
            "id": "jupyter-token",
            "description": "Token of the Jupyter server",
            "password": True,
        },
    ),
}


def write(path: Path, text: str, *, secret: bool) -> None:
    """Write atomically. A new file, or one with a secret, is readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path = path.resolve()  # follow a link to where the file really is
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    if path.exists() and not secret:
        Path(file.name).chmod(path.stat().st_mode)
    Path(file.name).replace(path)
