"""What is remembered of kernels."""

from __future__ import annotations

import pytest

from cowork_jupyter.effects.memory import MAX_KERNELS, KernelMemory, has_run_at_most
from cowork_jupyter.tools.kernel.state import KernelTables


def seen(*history: str) -> KernelTables:
    return KernelTables({}, history=history)


def test_code_without_a_cell_stands_between_the_cells_that_ran_around_it() -> None:
    memory = KernelMemory()
    memory.keep("n", seen("a"))
    memory.ran("n", "between")
    memory.ran("n", "and again")
    memory.keep("n", seen("a", "b"))
    memory.ran("n", "last")
    assert memory.earlier("n", ["a", "b"]) == ["a", "between", "and again", "b", "last"]
    assert memory.earlier("other", ["a"]) == ["a"]


def test_a_kernel_that_was_restarted_has_run_nothing() -> None:
    memory = KernelMemory()
    memory.keep("n", seen("a", "b"))
    memory.ran("n", "code")
    memory.keep("n", seen())
    assert memory.earlier("n", []) == []


def test_what_nobody_has_used_for_longest_is_forgotten() -> None:
    memory = KernelMemory()
    for number in range(MAX_KERNELS + 1):
        memory.keep(str(number), seen("a"))
    assert memory.tables("0") is None
    assert memory.tables("1") == seen("a")
    memory.forget("1")
    assert memory.tables("1") is None


@pytest.mark.parametrize(
    ("before", "after", "cells", "so"),
    [
        ("", "", 0, True),
        ("", "a", 0, False),
        ("", "a", 1, True),
        ("", "a b", 1, False),
        ("a b", "a b", 0, True),
        ("a b", "a b c", 0, False),
        ("a b", "a b c", 1, True),
        ("a b", "a b c d", 1, False),
        ("a a", "a a a", 0, False),
        ("a b c", "b c d", 1, True),
        ("a b c", "b c d", 0, False),
        ("a b c", "c d e", 1, False),
        ("a b", "", 1, False),
        ("a b", "b", 1, False),
    ],
)
def test_how_many_cells_ran_in_between(before: str, after: str, cells: int, so: bool) -> None:
    assert has_run_at_most(cells, seen(*before.split()), seen(*after.split())) is so
