"""A first `AGENTS.md`, derived from the workspace: its data, notebooks, environment and habits.

No model writes it. It contains names only, never a value of the data, and each name is in a
code span, shortened: the name of a column must not be read as an instruction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from ..domain.errors import CoworkError
from ..policy.visible import visible
from ..tools.table_facts import TableFacts, table_facts
from ..workspace import IgnoreRules, Workspace, visible_files
from .habits import conventions, environment
from .notebook_facts import NotebookFacts, imported, notebook_facts

_MAX_FILES_SEEN = 5_000
_MAX_DATA, _MAX_NOTEBOOKS, _MAX_COLUMNS, _MAX_SCRIPTS = 30, 30, 30, 100
_MAX_NAME = 60
_HEAD = 64 * 1024
_MAX_NOTEBOOK = 4 * 1024 * 1024
_TEXT_TABLES = (".csv", ".tsv")
_OTHER_DATA = (".parquet", ".feather", ".xlsx", ".xls", ".jsonl", ".ndjson", ".duckdb", ".sqlite")
_VALUE = re.compile(r"[\d\s.,:+\-/%€$]*|.*@.*")
"""Not the name of a column: a number, a date, an address."""
_INTRODUCTION = """\
# About this workspace

For agents that work here. It was made from what is in this folder; correct it, and add what you
would tell a new colleague."""


def first_instructions(workspace: Workspace) -> str:
    files = list(islice(visible_files(workspace, ".", IgnoreRules(workspace)), _MAX_FILES_SEEN))
    notebooks = dict(_notebooks(workspace, files))
    imports = Counter(name for notebook in notebooks.values() for name in notebook.imports)
    imports.update(name for text in _scripts(workspace, files) for name in imported(text))
    small = _SmallFiles(workspace)
    sections = {
        "Data": list(_data_lines(workspace, files)),
        "Notebooks": list(_notebook_lines(notebooks)),
        "Environment": list(environment(files, small.read)),
        "Conventions": list(conventions(files, imports, small.read)),
    }
    texts = [_section(title, lines) for title, lines in sections.items() if lines]
    return "\n\n".join([_INTRODUCTION, *texts])


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"## {title}", "", *(f"- {line}" for line in lines)])


def _data_lines(workspace: Workspace, files: list[str]) -> Iterator[str]:
    data = [path for path in files if path.lower().endswith(_TEXT_TABLES + _OTHER_DATA)]
    for path in data[:_MAX_DATA]:
        facts = _facts(workspace, path) if path.lower().endswith(_TEXT_TABLES) else None
        yield f"{_name(path)}{_columns(facts) if facts else ''}"
    if len(data) > _MAX_DATA:
        yield f"and {len(data) - _MAX_DATA} more"


def _facts(workspace: Workspace, path: str) -> TableFacts | None:
    try:
        with workspace.locate(path) as place:
            return table_facts(path, place.read(_HEAD), place.stat().st_size)
    except CoworkError:
        return None


def _columns(facts: TableFacts) -> str:
    """Their names, unless the first row looks like data."""
    names = [column.name.strip() for column in facts.columns]
    if len(set(names)) < len(names) or any(_VALUE.fullmatch(name) for name in names):
        return " (has no header that can be relied on)"
    text = ", ".join(map(_name, names[:_MAX_COLUMNS]))
    more = f" and {len(names) - _MAX_COLUMNS} more" if len(names) > _MAX_COLUMNS else ""
    separator = {"\t": "tab", ",": ""}.get(facts.dialect.separator, facts.dialect.separator)
    read = [
        *([f"separated by {separator}"] if separator else []),
        *(["decimal comma"] if facts.dialect.decimal_comma else []),
        *(["day first in dates"] if facts.dialect.day_first else []),
        *([f"encoded as {facts.dialect.encoding}"] if facts.dialect.encoding else []),
    ]
    how = f" ({', '.join(read)})" if read else ""
    return f": {text}{more}{how}"


def _notebooks(workspace: Workspace, files: list[str]) -> Iterator[tuple[str, NotebookFacts]]:
    for path in [path for path in files if path.endswith(".ipynb")][:_MAX_NOTEBOOKS]:
        try:
            with workspace.locate(path) as place:
                yield path, notebook_facts(place.read(_MAX_NOTEBOOK))
        except CoworkError:
            continue


def _notebook_lines(notebooks: dict[str, NotebookFacts]) -> Iterator[str]:
    for path, facts in notebooks.items():
        heading = f": {_plain(facts.heading)}" if facts.heading else ""
        yield f"{_name(path)}{heading}"


def _scripts(workspace: Workspace, files: Iterable[str]) -> Iterator[str]:
    small = _SmallFiles(workspace)
    for path in islice((path for path in files if path.endswith(".py")), _MAX_SCRIPTS):
        yield small.read(path)


class _SmallFiles:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def read(self, path: str) -> str:
        """Its first part; empty if it cannot be read."""
        try:
            with self._workspace.locate(path) as place:
                return place.read(_HEAD).decode("utf-8", "replace")
        except CoworkError:
            return ""


def _name(text: str) -> str:
    return f"`{_plain(text)}`"


def _plain(text: str) -> str:
    """One short line, without anything that Markdown or a reader could take for more."""
    words = visible(" ".join(text.replace("`", "'").split()))
    return words if len(words) <= _MAX_NAME else f"{words[: _MAX_NAME - 1]}…"
