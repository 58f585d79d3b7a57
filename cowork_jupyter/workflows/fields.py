"""Field types of forms: what they accept, and how they appear in a request."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from ..domain.errors import InvalidInput

_BREAKING = {"Cc", "Cs", "Zl", "Zp"}
"""Unicode categories of control characters, surrogates and line separators."""


def quoted(value: Any) -> str:
    """A value as JSON on one line, so that it cannot become more than a value."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(json.dumps(char)[1:-1] if _breaks(char) else char for char in text)


def _breaks(char: str) -> bool:
    return unicodedata.category(char) in _BREAKING


def in_one_line(text: str, most: int) -> str:
    line = "".join(char for char in " ".join(text.split()) if not _breaks(char))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def assigned(schema: Mapping[str, Any], words: Iterable[str]) -> dict[str, Any]:
    """Parse `name=value`: strings as they are, all else as JSON."""
    fields = schema.get("properties", {})
    values: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not key or not equals:
            why = f"Write parameters as name=value, not '{word}'."
            raise InvalidInput(why, code="bad_parameters")
        values[key] = value if "string" in _types(fields.get(key, {})) else _json(value)
    return values


def _types(field: Mapping[str, Any]) -> set[str]:
    return {str(option.get("type", "")) for option in (field, *field.get("anyOf", []))}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _one_line(text: str) -> str:
    if any(map(_breaks, text)):
        raise ValueError("must be one line, without control characters")
    return text


def _inside(path: str) -> str:
    """The tools refuse other paths anyway; here the user learns of it at once."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        raise ValueError("must be a path inside the workspace, relative to its top folder")
    return path


def _notebook(path: str) -> str:
    if not path.endswith(".ipynb"):
        raise ValueError("must be a notebook, with a name that ends in .ipynb")
    return path


Line = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=500), AfterValidator(_one_line)
]

FilePath = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000),
    AfterValidator(_one_line),
    AfterValidator(_inside),
    Field(json_schema_extra={"format": "path"}),
]

NotebookPath = Annotated[
    FilePath, AfterValidator(_notebook), Field(json_schema_extra={"format": "notebook-path"})
]
