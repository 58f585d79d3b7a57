"""Python with lines of IPython's own between it."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.user_code import as_python, is_request, parse_code


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("%load_ext x\ny = 1", 2),
        ("files = !ls\ny?", 1),
        ("%%time\ny = 1\nz = 2", 2),
        ("x = (a\n% b)", 1),
    ],
)
def test_magics_do_not_hide_python(source: str, lines: int) -> None:
    tree = parse_code(source)
    assert tree is not None
    assert len(tree.body) == lines


@pytest.mark.parametrize("source", ["%%bash\nls", "def f(:", "(" * 5000, "f\0"])
def test_what_is_no_python_is_none(source: str) -> None:
    assert parse_code(source) is None


def test_the_variable_of_a_capture_is_defined() -> None:
    assert as_python("%%capture out\nx = 1") == "out = None\nx = 1"


@pytest.mark.parametrize(
    ("source", "asks"), [("%%plan\nx", True), ("\n%%act", True), ("%%planet", False), ("x", False)]
)
def test_requests_are_known(source: str, asks: bool) -> None:
    assert is_request(source) is asks
