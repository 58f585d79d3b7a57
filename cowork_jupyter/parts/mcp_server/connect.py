"""`jupyter cowork connect`: let Claude Code, Codex and others use the tools of a running Lab."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from ...domain.errors import InvalidInput
from ...domain.roles import AgentRole
from ...hosts.cli.command import SUCCESS
from .mcp_clients import CLIENTS, TOKEN_VARIABLE, Access, McpClient, write

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ...hosts.cli.command import Commands
    from ...hosts.config import Cowork

_FOUND = "the one that was found"


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
