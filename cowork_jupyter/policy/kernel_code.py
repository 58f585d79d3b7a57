"""Finds shell commands in code for a kernel, as far as they are visible.

A kernel cannot be sandboxed, so this is no barrier: a command can be hidden in Python. It finds
what people and models usually write: `!ls`, `%%bash`, `os.system("ls")` and the like.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator

_SHELL_CELLS = re.compile(
    r"\s*%%(?:(?:bash|sh|script|system|sx)(?=\s)|!)[^\n]*\n(?P<body>.*)", re.DOTALL
)
_SHELL_LINE = re.compile(
    r"^\s*(?:[\w.,\s\[\]'\"]*=\s*)?(?:!!?|%sx\s|%system\s)\s*(?P<command>\S.*)$"
)
_INSTALL_LINE = re.compile(r"^\s*(?P<command>%(?:pip|conda|mamba|micromamba|uv)\s.*)$")
_SHELL_CALLS = {
    "os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.check_call",
    "subprocess.check_output", "subprocess.Popen", "subprocess.getoutput",
    "subprocess.getstatusoutput", "asyncio.create_subprocess_shell",
    "asyncio.create_subprocess_exec", "pty.spawn", "os.execvp", "os.spawnvp",
    "get_ipython().system", "get_ipython().getoutput", "get_ipython().run_cell_magic",
    "get_ipython().run_line_magic",
}  # fmt: skip
UNSEEN = "a command that is built at run time"


def commands_in(code: str) -> list[str]:
    """The shell commands in a cell; `UNSEEN` stands for one whose text is unknown."""
    cell = _SHELL_CELLS.fullmatch(code)
    if cell:
        return [cell["body"]]
    return [*_escapes(code), *_calls(code)]


def _escapes(code: str) -> Iterator[str]:
    for line in code.splitlines():
        for form in (_SHELL_LINE, _INSTALL_LINE):
            match = form.match(line)
            if match:
                yield match["command"].removeprefix("%")


def _calls(code: str) -> Iterator[str]:
    """Calls that start programs, with their text if it is a literal."""
    try:
        tree = ast.parse(_as_python(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if any(name.rpartition(".")[2] + "(" in code for name in _SHELL_CALLS):
            yield UNSEEN
        return
    imported = _imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = _name(node.func)
            if imported.get(name, name) in _SHELL_CALLS:
                yield _text(node)


def _as_python(code: str) -> str:
    """Replace IPython's own lines, which `_escapes` handles."""
    return "\n".join(
        re.sub(r"\S.*", "pass", line) if re.match(r"\s*[!%?]", line) else line
        for line in code.splitlines()
    )


def _imported(tree: ast.AST) -> dict[str, str]:
    """After `from os import system as s`, `s` stands for `os.system`."""
    origins: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            origins |= {
                name.asname or name.name: f"{node.module}.{name.name}" for name in node.names
            }
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    prefix = alias.name
                    origins |= {
                        name.replace(prefix, alias.asname, 1): name
                        for name in _SHELL_CALLS
                        if name.startswith(f"{prefix}.")
                    }
    return origins


def _name(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):
        return ""


def _text(call: ast.Call) -> str:
    first = call.args[-1] if "run_" in _name(call.func) and call.args else None
    argument = first or (call.args[0] if call.args else None)
    try:
        value = ast.literal_eval(argument) if argument is not None else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return UNSEEN
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return shlex.join(value)
    return UNSEEN
