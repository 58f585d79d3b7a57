"""The assumptions that an answer lists."""

from __future__ import annotations

import pytest

from cowork_jupyter.effects.assumptions import assumptions_in

STATED = ["`ordered_at` is the date", "Rows without a region are left out"]
HEADINGS = [
    "## Assumptions",
    "**Assumptions**",
    "**Assumptions:**",
    "Assumptions:",
    "### My assumptions:",
    "__Annahmen__",
    "## Annahmen",
    "Annahmen:",
]


@pytest.mark.parametrize("heading", HEADINGS)
@pytest.mark.parametrize("mark", ["-", "*", "1.", "2)", "- [ ]"])
def test_a_list_below_the_heading_is_what_is_assumed(heading: str, mark: str) -> None:
    text = f"The mean is 41.87.\n\n{heading}\n\n" + "\n".join(f"{mark} {one}" for one in STATED)
    assert [one.text for one in assumptions_in(text)] == STATED
    assert all(one.status == "open" for one in assumptions_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "The mean is 41.87.",
        "My assumptions are sound:\n- yes",
        "## Assumptions\n\nThere are none.",
        "## Assumptions\n- None.",
        "## Assumptions\n",
    ],
)
def test_nothing_is_assumed_without_a_list(text: str) -> None:
    assert assumptions_in(text) == []


def test_the_list_ends_where_something_else_begins() -> None:
    text = "## Assumptions\n- one\n  and a half\n\n- two\n\nThat is all.\n- three"
    assert [one.text for one in assumptions_in(text)] == ["one and a half", "two"]
