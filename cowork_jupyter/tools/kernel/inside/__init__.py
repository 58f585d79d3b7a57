"""Our code that runs inside the user's kernel, to inspect variables.

It is sent as one source text, so it needs nothing of ours installed there, only Python 3.9 or
newer. All parts share one namespace, so top-level names must be unique across them. It calls no
code of the user's: no `__repr__`, no `__len__`, no property, no metaclass. What a value is, is read
from its type; only exact types of well-known libraries are asked more.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from pydantic import JsonValue

from ..state import KernelQuery

_PARTS = (
    "plain.py", "values.py", "adapter.py", "libraries.py", "report.py", "columns.py", "sources.py",
    "queries.py", "states.py", "checks.py",
)  # fmt: skip
_OWN_IMPORTS = re.compile(
    r"^from (?:__future__|\.\w+) import (?:\([^)]*\)|[^\n(]*)\n", re.MULTILINE
)


@cache
def source() -> str:
    """All parts as one text, for `exec` in a namespace of its own."""
    texts = [files(__name__).joinpath(name).read_text("utf-8") for name in _PARTS]
    body = "\n".join(_OWN_IMPORTS.sub("", text) for text in texts)
    return f"from __future__ import annotations\n{body}"


@cache
def _module_name() -> str:
    return f"_cowork_inside_{hashlib.sha256(source().encode()).hexdigest()[:16]}"


def copy_expression(name: str, path: str, room: int) -> str:
    return _call_expression(f"copy_table({name!r}, {path!r}, {room!r})")


def measure_expression(questions: Sequence[Mapping[str, JsonValue]]) -> str:
    return _call_expression(f"measure({list(questions)!r})")


def expression(name: str | None) -> str:
    return _call_expression(f"report({name!r})")


def tables_expression(queries: Sequence[KernelQuery], seconds: float, after: bool = False) -> str:
    """Evaluates to `KernelTables` as JSON, after at most so many seconds of work.

    `after` says that the code which the queries are about has run.
    """
    return _call_expression(f"table_states({queries_text(queries, after)!r}, {seconds!r})")


def recorder_expression() -> str:
    """Has the tables between cells recorded from now on."""
    return _call_expression("record_cells()")


def recorded_expression(count: int) -> str:
    """Evaluates to a `RecordedCell` as JSON, or to an empty object."""
    return _call_expression(f"recorded_cell({count!r})")


def queries_text(queries: Sequence[KernelQuery], after: bool) -> str:
    """The queries that can be answered now, as `table_states` reads them."""
    answerable = (query for query in queries if after or not query.after)
    return json.dumps([[ask.kind, ask.arguments, [ask.after, ask.before]] for ask in answerable])


def _call_expression(call: str) -> str:
    """An expression that calls one of our functions and evaluates to its JSON.

    It binds no name, and works also if the user has shadowed `exec`. Compiling all of it takes as
    long as a report, so it is cached in `sys.modules` under a name of ours.
    """
    kept = f"modules.get({_module_name()!r})"
    made = f"__import__('builtins').exec({source()!r}, new.__dict__)"
    make = f"(lambda new: ({made}, modules.setdefault({_module_name()!r}, new))[1])"
    module = f"({kept} or {make}(type(__import__('sys'))({_module_name()!r})))"
    return f"(lambda modules: {module}.{call})(__import__('sys').modules)"


QUIET = "__import__('builtins').exec({source!r}, {{}})"
"""Put before an expression on a subshell, see `quietly`."""


def quietly() -> str:
    """Code that keeps IPython from firing post_execute for our execution on this thread.

    IPython fires it after any execution, also on a subshell; matplotlib would then show and close
    figures that the user's running cell still draws.
    """
    text = files(__name__).joinpath("quiet.py").read_text("utf-8")
    return QUIET.format(source=text)
