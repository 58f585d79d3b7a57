from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

Read = Callable[[str], str]
"""Returns the beginning of a file; empty if there is none."""

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


def environment(files: list[str], read: Read) -> Iterator[str]:
    """Python's version, where packages are declared, how the tests are run."""
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


def conventions(files: list[str], imports: Counter[str], read: Read) -> Iterator[str]:
    """Which libraries are in use, and which formatter is configured."""
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
