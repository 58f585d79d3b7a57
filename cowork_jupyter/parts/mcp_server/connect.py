"""`jupyter cowork connect`: let Claude Code, Codex and others use the tools of a running Lab."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import tomllib
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from ...domain.errors import InvalidInput
from ...domain.roles import AgentRole
from ...hosts.cli.command import SUCCESS

if TYPE_CHECKING:  # pydantic is slow to import, and every command imports this
    from pydantic import JsonValue

    from ...domain.settings import Settings
    from ...hosts.cli.command import Commands
    from ...hosts.config import Cowork

    Entry = dict[str, JsonValue]


_FOUND = "the one that was found"
SERVER = "cowork"
"""Our name in clients."""
TOKEN_VARIABLE = "JUPYTER_TOKEN"  # noqa: S105 (the name of a variable)
"""Jupyter reads its own token from it, too."""
_PATIENCE = 24 * 3600
"""Seconds that a call may take: cells run long, and people are asked."""


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "connect",
        help="let Claude Code, Codex and others use the tools of your Jupyter server",
        description="Print or write the configuration that lets another agent use the tools of "
        "your running Jupyter server over MCP. Its calls follow your rules, ask you in "
        "the Cowork panel, are recorded and can be rolled back.",
    )
    parser.add_argument("client", choices=CLIENTS, help="agent to connect")
    parser.add_argument(
        "--write", action="store_true", help="add it to the agent's configuration file"
    )
    parser.add_argument(
        "--role",
        metavar="ROLE",
        default=AgentRole.PLANNER.value,
        help="role that limits its calls (default: planner, which only reads)",
    )
    parser.add_argument(
        "--url", help="address of the Jupyter server (default: the one that runs for this folder)"
    )
    parser.add_argument(
        "--token",
        nargs="?",
        const=_FOUND,
        help="put the token itself into the configuration (default: the server's own)",
    )
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    client = CLIENTS[arguments.client]
    access = _access(config, arguments)
    if not arguments.write:
        sys.stdout.write(client.merge("", access))
        _remark(f"Add this to {client.path}, or run this again with --write.")
    else:
        before = _read_config(client)
        after = client.merge(before, access)
        write(client.path, after, secret=bool(access.token))
        sys.stdout.write(f"{'Unchanged' if after == before else 'Wrote'}: {client.path}\n")
        entry = client.merge("", access)
        sys.stdout.write(entry.replace(access.token, "…") if access.token else entry)
    for remark in _remarks(client, access, arguments.role):
        _remark(remark)
    return SUCCESS


def _read_config(client: McpClient) -> str:
    try:
        return client.path.read_text(encoding="utf-8") if client.path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise client.refusal(f"it cannot be read ({error})") from None


def _access(config: Cowork, arguments: Namespace) -> Access:
    """Address of a running server, or a command that starts a process of ours if there is none."""
    from .tool_host import check_installed

    server = _server_at(arguments.url) if arguments.url else _running_here()
    if not arguments.url:  # a remote server has other packages and roles
        check_installed()
        folder = server.root if server else Path.cwd()
        _check_role(config.settings(workspace=folder), arguments.role)
    if server is None:
        return Access(command=("jupyter", "cowork", "mcp", "--role", arguments.role))
    token = server.token if arguments.token == _FOUND else arguments.token or ""
    if arguments.token and not token:
        raise InvalidInput("The server's token is unknown. Pass it with --token TOKEN.")
    return Access(f"{server.url}cowork/mcp?role={quote(arguments.role)}", token)


def _check_role(settings: Settings, role: str) -> None:
    """Without building a service, because the server may have one for the same folder."""
    from ...policy.trust import Trust
    from ...roles.catalog import RoleCatalog, plugin_roles

    trust = Trust(settings.data_dir / "trust.json", settings.workspace)
    own = settings.data_dir / "roles"
    RoleCatalog(own, settings.workspace, trust.is_trusted, plugin_roles).chosen(role)


@dataclass(frozen=True)
class _Server:
    url: str
    """With a trailing slash."""
    root: Path = Path()
    token: str = ""


def _server_at(url: str) -> _Server:
    """From an address that may have been copied from a browser."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise InvalidInput(f"--url: '{url}' is not an address such as http://localhost:8888/")
    base = re.sub(r"/(lab|tree|notebooks|doc)(/.*)?$", "", parts.path).rstrip("/")
    token = dict(parse_qsl(parts.query)).get("token", "")
    address = urlunsplit((parts.scheme, parts.netloc, f"{base}/", "", ""))
    return _Server(address, token=token)


def _running_here() -> _Server | None:
    """The only server, or the one whose folder is the nearest above this one."""
    from jupyter_server.serverapp import list_running_servers

    servers = [
        _Server(server["url"], Path(server["root_dir"]), server["token"])
        for server in list_running_servers()
        if not server.get("sock")  # Unix sockets have no address for clients
    ]
    here = Path.cwd()
    above = [server for server in servers if here.is_relative_to(server.root)]
    nearest = max((len(server.root.parts) for server in above), default=0)
    fitting = [server for server in above if len(server.root.parts) == nearest] or servers
    if len(fitting) > 1:
        known = ", ".join(f"{server.url} ({server.root})" for server in fitting)
        raise InvalidInput(f"Several Jupyter servers are running: {known}. Choose one with --url.")
    return fitting[0] if fitting else None


def _remarks(client: McpClient, access: Access, role: str) -> list[str]:
    if access.command:
        return [
            f"No Jupyter server is running, so {client.label} will start a Cowork "
            "process of its own. What no rule allows is denied there, unless that agent can ask "
            "you itself. To be asked in the Cowork panel, start JupyterLab and run this again."
        ]
    where = "`jupyter server list` shows it."
    if access.token:
        login = "The configuration holds your token. Keep it out of version control."
    elif client.question:
        login = f"{client.label} will ask you for the server's token; {where}"
    else:
        login = (
            f"{client.label} takes the server's token from {TOKEN_VARIABLE}; {where} Set it where "
            f"you start {client.label}. If you start Jupyter with it as well, it stays the same."
        )
    more = "Use --role actor to let it change things; what no rule allows then asks you."
    return [login, more] if role == AgentRole.PLANNER.value else [login]


def _remark(words: str) -> None:
    """On stderr, as standard output holds the configuration."""
    sys.stderr.write(f"{words}\n")


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
