"""Where an address that is being typed goes on in a template."""

from __future__ import annotations

import pytest

from cowork_jupyter.agents.mentions.completion import Gap, find_gap, parse_address

BOOKS = "lib://{shelf}/{title}.txt"


@pytest.mark.parametrize(
    ("template", "written", "gap"),
    [
        (BOOKS, "", Gap("lib://")),
        (BOOKS, "lib:", Gap("lib://")),
        (BOOKS, "lib://", Gap("lib://", "shelf", "", "/")),
        (BOOKS, "lib://po", Gap("lib://", "shelf", "po", "/")),
        (
            BOOKS,
            "lib://poems/O",
            Gap("lib://poems/", "title", "O", ".txt", (("shelf", "poems"),), True),
        ),
        (BOOKS, "web://", None),
        ("lib://{+path}", "lib://a/b", Gap("lib://", "path", "a/b", "", (), True)),
        ("lib://all{?query}", "lib://all", None),
        ("lib://fixed", "lib://", None),
    ],
)
def test_a_gap(template: str, written: str, gap: Gap | None) -> None:
    assert find_gap(template, written) == gap


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("@", ""),
        ("@li", ""),
        ("@lib:a b", "a b"),
        ('@"lib:a', "a"),
        ("@web:a", None),
        ("@df", None),
    ],
)
def test_an_address_at_a_server(typed: str, address: str | None) -> None:
    assert parse_address(typed, "lib") == address
