"""Diffs say what changed, and quickly."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.tools.diff import diff

LINES = st.lists(st.sampled_from(["a", "b", "", "-x", "+y", "@@ z"]), max_size=30).map("\n".join)


def test_same_text_has_no_diff() -> None:
    assert diff("a", "x\n", "x\n").text == ""


def test_line_numbers_are_those_of_the_whole_file() -> None:
    before = "".join(f"{n}\n" for n in range(1, 101))
    change = diff("a", before, before.replace("50\n", "fifty\n"))
    assert "@@ -47,7 +47,7 @@" in change.text
    assert (change.added, change.removed) == (1, 1)
    assert change.counts == "+1 −1 lines"


def test_missing_last_line_break_is_shown() -> None:
    change = diff("a", "x", "x\n")
    assert change.text.endswith("-x\n\\ No newline at end of file\n+x\n")


@given(LINES, LINES)
def test_counts_are_the_difference_in_lines(before: str, after: str) -> None:
    change = diff("a", before, after)
    assert change.added - change.removed == lines(after) - lines(before)
    assert bool(change.text) == (before != after)


def lines(text: str) -> int:
    return len(text.split("\n")) - (text.endswith("\n") or not text)


def applied(before: str, patch: str) -> str:
    """What the `patch` program does, for texts whose lines all end."""
    old, new, at = before.splitlines(), [], 0
    for line in patch.splitlines()[2:]:
        if line.startswith("@@"):
            start = int(line.split()[1].split(",")[0][1:])
            start -= ",0 " not in line.split("+")[0]
            new += old[at:start]
            at = start
        elif line[0] in " -":
            assert old[at] == line[1:]
            new += [line[1:]] if line[0] == " " else []
            at += 1
        else:
            new.append(line[1:])
    return "".join(f"{line}\n" for line in [*new, *old[at:]])


def test_diff_leads_from_one_text_to_the_other() -> None:
    rng = random.Random(1)
    for _ in range(50):
        before = "".join(f"{rng.randrange(9)}\n" for _ in range(60))
        after = "".join(line + "\n" for line in before.split() if rng.random() > 0.1) + "end\n"
        assert applied(before, diff("f", before, after).text) == after


@pytest.mark.timeout(60)
def test_large_rewrite_does_not_take_for_ever() -> None:
    rng = random.Random(1)
    before = "".join(f"{rng.randrange(50)}\n" for _ in range(20_000))
    after = "".join(f"{rng.randrange(50)}\n" for _ in range(20_000))
    change = diff("a", before, after)
    assert change.added - change.removed == 0
