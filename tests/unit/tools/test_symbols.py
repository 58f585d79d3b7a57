"""Finding where Python names are defined."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.tools.search import definitions

from .conftest import Call, write

SOURCE = """\
LIMIT: int = 3
first, (second, *rest) = 1, (2, 3)


class Model:
    scale = 1.0

    def fit(self):
        hidden = 1

        def inner():
            pass

    async def fetch(self):
        pass


if True:
    try:
        def guarded(): ...
    except ImportError:
        fallback = None
Model.scale = 2
"""


def found(source: str, name: str) -> list[tuple[str, str, int]]:
    return [(d.name, d.kind, d.line) for d in definitions(source, name) if d.is_called(name)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LIMIT", [("LIMIT", "variable", 1)]),
        ("second", [("second", "variable", 2)]),
        ("rest", [("rest", "variable", 2)]),
        ("Model", [("Model", "class", 5)]),
        ("scale", [("Model.scale", "variable", 6)]),
        ("fit", [("Model.fit", "function", 8)]),
        ("hidden", []),
        ("inner", [("Model.fit.inner", "function", 11)]),
        ("fetch", [("Model.fetch", "function", 14)]),
        ("guarded", [("guarded", "function", 20)]),
        ("fallback", [("fallback", "variable", 22)]),
        ("it", []),
    ],
)
def test_definitions_are_found_with_their_place(
    name: str, expected: list[tuple[str, str, int]]
) -> None:
    assert found(SOURCE, name) == expected


def test_magics_do_not_hide_definitions() -> None:
    source = "%load_ext x\nif y:\n    !ls\ndef f():\n    %time 1\n"
    assert found(source, "f") == [("f", "function", 4)]
    assert found("%%time\ndef f(): ...", "f") == [("f", "function", 2)]
    assert found("%%bash\ndef f():", "f") == []


def test_percent_in_ordinary_code_is_no_magic() -> None:
    assert found("def f(a, b):\n    return (a\n    % b)\n", "f") == [("f", "function", 1)]


def test_code_that_does_not_parse_is_read_by_its_lines() -> None:
    source = "def f(:\n    f = 1\nclass f(\nf = 2\nf == 3\nf: int = 4\n"
    assert [kind for _, kind, _ in found(source, "f")] == [
        "function", "class", "variable", "variable",
    ]  # fmt: skip


@pytest.mark.parametrize("source", ["(" * 5000 + "f", "f\0", "x = '\\d'; f = 1"])
def test_odd_source_does_no_harm(source: str) -> None:
    definitions(source, "f")


@pytest.mark.asyncio
async def test_symbols_are_found_in_files_and_notebooks(root: Path, call: Call) -> None:
    cells = [
        {"cell_type": "markdown", "id": "m", "source": "def load(): in prose"},
        {"cell_type": "code", "id": "c", "source": "%matplotlib inline\ndef load(path):\n  pass"},
    ]
    write(root, {"a.py": "def load(): ...\nload()\n", "b.txt": "def load(): ..."})
    write(root, {"n.ipynb": json.dumps({"nbformat": 4, "cells": cells})})
    write(root, {"lib/c.py": "class IO:\n    load = 1\n"})
    result = await call("search_symbol", name="load")
    assert result.text.split("\n") == [
        "a.py:1: function load  def load(): ...",
        "lib/c.py:2: variable IO.load  load = 1",
        "n.ipynb[cell 1 · c]:2: function load  def load(path):",
    ]
    only = await call("search_symbol", name="IO.load", kind="variable")
    assert only.data["paths"] == ["lib/c.py"]
    none = await call("search_symbol", name="load", kind="class")
    assert "No class 'load'" in none.text


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["", "a b", "1a", "a.", "-e", "f("])
async def test_what_is_no_name_is_refused(root: Path, call: Call, name: str) -> None:
    with pytest.raises(InvalidInput):
        await call("search_symbol", name=name)
