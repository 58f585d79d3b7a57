"""A first `AGENTS.md`, derived from the workspace: its data, notebooks, environment and habits.

No model writes it. It contains names only, never a value of the data, and each name is in a
code span, shortened: the name of a column must not be read as an instruction.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from ...domain.errors import CoworkError
from ...policy.visible import visible
from ...service.service import CoworkService
from ...tools.table_facts import TableFacts, table_facts
from ...workspace import IgnoreRules, Workspace, visible_files
from .instructions import FILE_NAME, InstructionFinder

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

For agents that work here. Made from the contents of this folder: correct it, and add what you
would tell a new colleague."""


def write_first_instructions(service: CoworkService, *, show: bool) -> tuple[str, str]:
    """Write a first `AGENTS.md`, trusted at once; or only show it."""
    text = first_instructions(service.factory.tools.workspace)
    if not show:
        service.trust.add(service.guidance.of(InstructionFinder).create(text))
    return FILE_NAME, text


def first_instructions(workspace: Workspace) -> str:
    files = list(islice(visible_files(workspace, ".", IgnoreRules(workspace)), _MAX_FILES_SEEN))
    notebooks = dict(_notebooks(workspace, files))
    imports = Counter(name for notebook in notebooks.values() for name in notebook.imports)
    scripts = islice((path for path in files if path.endswith(".py")), _MAX_SCRIPTS)
    imports.update(name for path in scripts for name in _imports(_read_head(workspace, path)))
    read = partial(_read_head, workspace)
    sections = {
        "Data": list(_data_lines(workspace, files)),
        "Notebooks": [
            f"{_name(path)}{f': {_plain(facts.heading)}' if facts.heading else ''}"
            for path, facts in notebooks.items()
        ],
        "Environment": list(_environment(files, read)),
        "Conventions": list(_conventions(files, imports, read)),
    }
    texts = [
        "\n".join([f"## {title}", "", *(f"- {line}" for line in lines)])
        for title, lines in sections.items()
        if lines
    ]
    return "\n\n".join([_INTRODUCTION, *texts])


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
        return " (no reliable header)"
    text = ", ".join(map(_name, names[:_MAX_COLUMNS]))
    more = f" and {len(names) - _MAX_COLUMNS} more" if len(names) > _MAX_COLUMNS else ""
    separator = {"\t": "tab", ",": ""}.get(facts.dialect.separator, facts.dialect.separator)
    notes = (
        f"separated by {separator}" if separator else "",
        "decimal comma" if facts.dialect.decimal_comma else "",
        "day first in dates" if facts.dialect.day_first else "",
        f"encoded as {facts.dialect.encoding}" if facts.dialect.encoding else "",
    )
    dialect = ", ".join(filter(None, notes))
    return f": {text}{more}{f' ({dialect})' if dialect else ''}"


def _notebooks(workspace: Workspace, files: list[str]) -> Iterator[tuple[str, _NotebookFacts]]:
    for path in [path for path in files if path.endswith(".ipynb")][:_MAX_NOTEBOOKS]:
        try:
            with workspace.locate(path) as place:
                yield path, _notebook_facts(place.read(_MAX_NOTEBOOK))
        except CoworkError:
            continue


def _read_head(workspace: Workspace, path: str) -> str:
    try:
        with workspace.locate(path) as place:
            return place.read(_HEAD).decode("utf-8", "replace")
    except CoworkError:
        return ""


def _name(text: str) -> str:
    return f"`{_plain(text)}`"


def _plain(text: str) -> str:
    """One short line, without anything that Markdown or a reader could take for more."""
    words = visible(" ".join(text.replace("`", "'").split()))
    return words if len(words) <= _MAX_NAME else f"{words[: _MAX_NAME - 1]}…"


Read = Callable[[str], str]

_ENVIRONMENTS = (
    "pyproject.toml",
    "requirements.txt",
    "environment.yml",
    "environment.yaml",
    "Pipfile",
    "pixi.toml",
    "setup.py",
)
_LOCKS = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm", "pixi.lock": "pixi"}
_MAKE_TEST = re.compile(r"^test[ \t]*:", re.MULTILINE)
_CONDA_PYTHON = re.compile(r"^[ \t]*-[ \t]*python[ \t]*([=<>~!][\w.=<>,*~! ]{0,30})$", re.MULTILINE)
_VERSION = re.compile(r"[\w.=<>,*~!^ -]{1,40}")
_TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_LIBRARIES = {
    "tables": ("pandas", "polars", "duckdb", "pyspark"),
    "plots": ("matplotlib", "seaborn", "plotly", "altair", "bokeh"),
    "models": ("sklearn", "statsmodels", "torch", "tensorflow", "xgboost", "lightgbm"),
}
_NAMES = {"sklearn": "scikit-learn"}
_FORMATTERS = ("ruff", "black", "yapf")


def _environment(files: list[str], read: Read) -> Iterator[str]:
    there = set(files)
    declared = [name for name in _ENVIRONMENTS if name in there]
    if version := _python_version(read):
        yield f"Python {version}"
    if declared:
        yield f"Packages are declared in {', '.join(f'`{name}`' for name in declared)}."
    for lock, tool in _LOCKS.items():
        if lock in there:
            yield f"The environment is managed with {tool} (`{lock}`)."
    if command := _test_command(files, read):
        yield f"Run the tests with `{command}`."


def _conventions(files: list[str], imports: Counter[str], read: Read) -> Iterator[str]:
    for purpose, known in _LIBRARIES.items():
        used = sorted((name for name in known if imports[name]), key=lambda name: -imports[name])
        if used:
            yield f"For {purpose}: {', '.join(_NAMES.get(name, name) for name in used)}."
    if formatter := _formatter(files, read):
        yield f"Code is formatted with {formatter}."


def _python_version(read: Read) -> str:
    required = _table(read("pyproject.toml"), "project").get("requires-python", "")
    conda = _CONDA_PYTHON.search(read("environment.yml") or read("environment.yaml"))
    pinned = read(".python-version").partition("\n")[0]
    for version in (pinned, required, conda[1] if conda else ""):
        if isinstance(version, str) and _VERSION.fullmatch(version.strip()):
            return version.strip()
    return ""


def _test_command(files: list[str], read: Read) -> str:
    if _MAKE_TEST.search(read("Makefile")):
        return "make test"
    configured = "pytest" in _table(read("pyproject.toml"), "tool") or "pytest.ini" in files
    return "pytest" if configured or any(map(_TEST_FILE.fullmatch, files)) else ""


def _formatter(files: list[str], read: Read) -> str:
    tools = _table(read("pyproject.toml"), "tool")
    if "ruff.toml" in files or read(".ruff.toml"):
        return "ruff"
    return next((name for name in _FORMATTERS if name in tools), "")


def _table(text: str, name: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(text).get(name, {})
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_HEADING = re.compile(r"^#{1,3}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class _NotebookFacts:
    heading: str = ""
    imports: frozenset[str] = frozenset()


def _notebook_facts(data: bytes) -> _NotebookFacts:
    try:
        cells = list(_cells(json.loads(data)))
    except (ValueError, RecursionError):
        return _NotebookFacts()
    headings = (_HEADING.search(source) for kind, source in cells if kind == "markdown")
    heading = next((found[1] for found in headings if found), "")
    code = [source for kind, source in cells if kind == "code"]
    return _NotebookFacts(heading, frozenset(name for source in code for name in _imports(source)))


def _imports(code: str) -> set[str]:
    return set(_IMPORT.findall(code))


def _cells(content: Any) -> Iterator[tuple[str, str]]:
    cells = content.get("cells") if isinstance(content, dict) else None
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict):
            source = cell.get("source", "")
            lines = source if isinstance(source, list) else [source]
            yield str(cell.get("cell_type")), "".join(map(str, lines))
