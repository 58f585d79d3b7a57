"""Where a text points at something, and where it only looks like it."""

from __future__ import annotations

import time

import pytest

from cowork_jupyter.domain.messages import column_mention
from cowork_jupyter.parts.mentions.syntax import (
    MAX_POINTERS,
    Pointer,
    path_text,
    pointers_in,
)


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("plot @sales by month", Pointer("@sales", "name", "sales")),
        ("plot @sales.revenue, please", Pointer("@sales.revenue", "name", "sales.revenue")),
        ("(@sales)", Pointer("@sales", "name", "sales")),
        ("what is @data/sales.csv?", Pointer("@data/sales.csv", "name", "data/sales.csv")),
        ("look at @sales.csv.", Pointer("@sales.csv", "name", "sales.csv")),
        ("list @data/", Pointer("@data/", "name", "data/")),
        ('@"my data/a b.csv"', Pointer('@"my data/a b.csv"', "path", "my data/a b.csv")),
        (
            'mean of @sales."unit price"',
            Pointer('@sales."unit price"', "column", "sales", "unit price"),
        ),
        ("explain @cell:3.", Pointer("@cell:3", "cell", part="3")),
        ("explain @cell:a1-b2", Pointer("@cell:a1-b2", "cell", part="a1-b2")),
        ("why @error?", Pointer("@error", "error")),
        ("@output", Pointer("@output", "output")),
        ("@output:2!", Pointer("@output:2", "output", part="2")),
        ("read @docs:file:///a.md", Pointer("@docs:file:///a.md", "name", "docs:file:///a.md")),
        ("was ist @größe", Pointer("@größe", "name", "größe")),
    ],
)
def test_what_is_pointed_at(text: str, pointer: Pointer) -> None:
    assert pointers_in(text) == [pointer]


@pytest.mark.parametrize(
    "text",
    [
        "write to ann@example.org",
        "ann.b+c@example.org",
        "```python\n@property\ndef a(self): ...\n```",
        "~~~\n@sales\n~~~",
        "a @ b",
        "@",
        "@@@",
    ],
)
def test_what_only_looks_like_it(text: str) -> None:
    assert pointers_in(text) == []


def test_prose_around_code_counts_and_nothing_counts_twice() -> None:
    text = "@a and @b\n```\n@c\n```\nthen @a and @d"
    assert [one.text for one in pointers_in(text)] == ["@a", "@b", "@d"]
    assert len(pointers_in(" ".join(f"@n{number}" for number in range(99)))) == MAX_POINTERS


@pytest.mark.parametrize("text", ["@" * 50_000, '@a."' * 20_000, '@"' * 20_000, "@a." * 20_000])
def test_no_text_takes_long(text: str) -> None:
    start = time.process_time()
    pointers_in(text)
    assert time.process_time() - start < 1.0


def test_what_is_offered_reads_back_as_the_same() -> None:
    assert column_mention("sales", "revenue") == "@sales.revenue"
    assert column_mention("sales", "unit price") == '@sales."unit price"'
    assert path_text("data/sales.csv") == "@data/sales.csv"
    for path in ("my data.csv", "a,b.csv", "error", "data (1).csv", "ends."):
        assert path_text(path) == f'@"{path}"'
        assert [one.name for one in pointers_in(path_text(path))] == [path]
