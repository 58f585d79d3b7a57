"""The reference pages, made from the code: what is not in the code cannot be in them."""

from __future__ import annotations

import json
from argparse import ArgumentParser, HelpFormatter, _SubParsersAction
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from IPython.core.magic_arguments import MagicArgumentParser
from traitlets import Bool, Dict, Float, Integer, List, Unicode

from cowork_jupyter.api import api  # noqa: F401 (its endpoints register themselves)
from cowork_jupyter.api.openapi import describe_api
from cowork_jupyter.api.routes import table
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.hosts.cli.app import command_line
from cowork_jupyter.hosts.config import Cowork
from cowork_jupyter.hosts.kernel.completion import COMMANDS
from cowork_jupyter.hosts.kernel.magics import CoworkMagics
from cowork_jupyter.service.parts import tools_of_parts
from cowork_jupyter.tools.base import Tool
from cowork_jupyter.tools.registry import tools_with_kernels

from .http_page import http_page
from .sandbox_page import sandbox_page

_WIDTH = 88
_KINDS = {
    Unicode: "Text",
    Integer: "A whole number",
    Float: "A number",
    Bool: "True or false",
    List: "A list",
    Dict: "A dictionary",
}
_WHERE_MAGICS_ARE = (
    "The magics are available in every notebook of JupyterLab and Notebook, and in every kernel "
    "of the environment in which Cowork is installed. Elsewhere, such as in IPython in a "
    "terminal, load them with `%load_ext cowork_jupyter`."
)


def generated_files() -> dict[str, str]:
    """Every page of the reference, by its place in the site."""
    document = describe_api(table).model_dump(mode="json")
    return {
        "reference/http.md": http_page(document, table),
        "reference/openapi.json": json.dumps(document, indent=1),
        "reference/magics.md": magics_page(),
        "reference/cli.md": cli_page(),
        "reference/settings.md": settings_page(),
        "reference/roles-and-tools.md": roles_and_tools_page(),
        "reference/sandbox.md": sandbox_page(),
    }


def magics_page() -> str:
    """The magics, from their parsers."""
    lines = ["# Magics", "", _WHERE_MAGICS_ARE, ""]
    for name in ("plan", "act", "ask"):
        magic = getattr(CoworkMagics, name)
        lines += [f"## %%{name}", *_help(magic.parser)]
    lines += ["## %cowork", "", str(CoworkMagics.cowork.__doc__), ""]
    rows = [
        (
            f"`%cowork {'' if name == 'status' else name} {usage.arguments}".rstrip() + "`",
            usage.help,
        )
        for name, usage in COMMANDS.items()
    ]
    lines += [*_table(("line", "what it does"), rows), ""]
    lines += ["`%cowork -c NAME …` applies to the conversation of that name."]
    return "\n".join(lines)


def cli_page() -> str:
    """The command line, from its parser."""
    parser = command_line()
    lines = ["# Command line", "", "`jupyter cowork` runs the agent in a terminal.", *_help(parser)]
    for name, command in commands_of(parser):
        lines += [f"## {name}", *_help(command)]
        for inner, deeper in commands_of(command):
            lines += [f"### {name} {inner}", *_help(deeper)]
    return "\n".join(lines)


def settings_page() -> str:
    """What can be configured, from the traitlets."""
    lines = [
        "# Settings",
        "",
        'Set these in a Jupyter config file (`c.Cowork.model = "…"`) or on the command line '
        "(`--Cowork.model=…`). `jupyter cowork --help-all` lists them too.",
        "",
    ]
    for name, trait in sorted(Cowork.class_traits(config=True).items()):
        default = "" if trait.default_value in ("", {}, None) else f"`{trait.default_value_repr()}`"
        choices = _codes(getattr(trait, "values", None) or [])
        kind = f"One of {choices}" if choices else _KINDS.get(type(trait), type(trait).__name__)
        lines += [f"## {name}", "", str(trait.help), ""]
        lines += [f"{kind}. Default: {default}." if default else f"{kind}.", ""]
    return "\n".join(lines)


def roles_and_tools_page() -> str:
    """Who may do what, from the registry."""
    lines = [
        "# Roles and tools",
        "",
        "A role is a ceiling: the agent is offered, and can call, only tools for which its role "
        "has all permissions. Nothing lifts that.",
        "",
        "## Roles",
        "",
    ]
    rows = [
        (
            f"`{role}`",
            role.spec.description,
            _codes(sorted(role.spec.permissions)),
            _codes(role.spec.delegates_to) or "–",
        )
        for role in AgentRole
    ]
    lines += [*_table(("role", "", "permissions", "delegates to"), rows), "", "## Tools", ""]
    for tool in tools_with_kernels(tools_of_parts()).values():
        lines += _tool(tool)
    lines += [
        "### delegate",
        "",
        "Delegate a task to another role. Only for roles that can delegate.",
        "",
    ]
    return "\n".join(lines)


def commands_of(parser: ArgumentParser) -> Iterator[tuple[str, ArgumentParser]]:
    """The sub-commands of a parser, by name."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            yield from action.choices.items()


def _tool(tool: Tool) -> Iterator[str]:
    roles = [role for role in AgentRole if role.permits(tool.permissions)]
    yield from (f"### {tool.name}", "", tool.description, "")
    yield f"Needs {_codes(sorted(tool.permissions)) or 'no permission'}; roles: {_codes(roles)}."
    if tool.read_only:
        yield f'With `where="scratch"`: {_codes(sorted(tool.read_only.permissions))}; all roles.'
    yield ""
    schema = tool.parameters.model_json_schema()
    needed = schema.get("required", [])
    rows = [
        (
            f"`{name}`" + ("" if name in needed else " (optional)"),
            _inline(of.get("description", "")),
        )
        for name, of in schema.get("properties", {}).items()
    ]
    yield from [*_table(("parameter", ""), rows), ""] if rows else []


def _help(parser: ArgumentParser | MagicArgumentParser) -> list[str]:
    """Its help as it prints it, as wide as a page."""
    made = cast("type[HelpFormatter]", parser.formatter_class)
    parser.formatter_class = lambda prog: made(prog, width=_WIDTH)
    text = parser.format_help().strip()
    if isinstance(parser, MagicArgumentParser):  # it begins with a mark for Sphinx, and one %
        text = f"%{text.removeprefix('::').strip()}"
    parser.formatter_class = made
    return ["", "```text", text, "```", ""]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"| {' | '.join('---' for _ in head)} |",
        *(f"| {' | '.join(_inline(cell) for cell in row)} |" for row in rows),
    ]


def _inline(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
