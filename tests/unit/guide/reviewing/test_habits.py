"""Errors that were left, errors that nobody would see, and outputs that are too large."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.reviewing.habits import error_remarks, except_remarks
from cowork_jupyter.guide.reviewing.outputs import MAX_SIZE, output_remarks
from cowork_jupyter.guide.reviewing.subject import Subject

from .cells import cell, notebook, places


@pytest.mark.parametrize(
    ("handler", "severity"),
    [
        ("except: pass", "major"),
        ("except Exception:\n    pass", "major"),
        ("except BaseException as e:\n    ...", "major"),
        ("except:\n    x = None", "minor"),
    ],
)
def test_swallowed_errors_are_found(handler: str, severity: str) -> None:
    (found,) = except_remarks(notebook(f"try:\n    x = f()\n{handler}"))
    assert (found.severity, found.line) == (severity, 3)


@pytest.mark.parametrize(
    "handler",
    [
        "except FileNotFoundError: pass",
        "except Exception as error:\n    print(error)",
        "except:\n    log()\n    raise",
        "except (ValueError, KeyError): pass",
    ],
)
def test_errors_that_are_expected_or_told_are_left_alone(handler: str) -> None:
    assert places(except_remarks, notebook(f"try:\n    x = f()\n{handler}")) == []


def test_a_loop_that_goes_on_over_every_error_swallows_them() -> None:
    source = "for x in y:\n    try:\n        f(x)\n    except Exception:\n        continue"
    assert places(except_remarks, notebook(source)) == [(1, 4)]


def test_a_cell_that_ended_with_an_error_is_found_unless_it_is_meant_to() -> None:
    cells = [
        cell(1, "1 / 0", 1, failed=True),
        cell(2, "1 / 0", 2, failed=True, tags=("raises-exception",)),
        cell(3, "1 / 1", 3),
    ]
    assert places(error_remarks, Subject("work.ipynb", cells)) == [(1, None)]


@pytest.mark.parametrize(
    ("source", "count", "found"),
    [
        ("for x in :\n    pass", None, True),
        ("print 'x'", None, True),
        ("some %strange ipython, that ran", 4, False),
        ("await fetch()", None, False),
        ("%matplotlib inline\n!ls\nfiles = !ls\ndf?\n?df", None, False),
        ("%%bash\nls | wc -l", None, False),
        ("%%time\nx = 1", None, False),
    ],
)
def test_what_is_no_python_is_found_only_if_it_never_ran(
    source: str, count: int | None, found: bool
) -> None:
    assert bool(places(error_remarks, notebook(source, counts=[count]))) is found


@pytest.mark.parametrize(("size", "found"), [(0, 0), (MAX_SIZE, 0), (MAX_SIZE + 1, 1)])
def test_a_very_large_output_is_found(size: int, found: int) -> None:
    subject = Subject("work.ipynb", [cell(1, "df", 1, output_size=size)])
    assert len(places(output_remarks, subject)) == found
