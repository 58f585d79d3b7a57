"""The guide asks less where the workspace's memory has the answer."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.guide.conversation import GuideRun
from cowork_jupyter.guide.remembered import answered_before, gaps_before
from cowork_jupyter.guide.script import Script
from cowork_jupyter.llm.chunks import Conversation

MEMORY = """## Cleaning
- `a.csv`: `x` turned into numbers, rows with missing values dropped, duplicates dropped
- `b.csv`: empty rows dropped, missing values filled with the median
- `c.csv`: empty rows dropped, duplicates dropped
- `d.csv`: duplicates dropped

## Answers
- For “profile the orders”: `shop/orders.csv`
- For “predict it: which town”: `town`
- For “both”: `shop/orders.csv`; `old/orders.csv`
"""


def script(memory: str = MEMORY) -> Script:
    return Script(GuideRun(""), Conversation(AgentRole.PLANNER, memory=memory))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("profile the orders", "shop/orders.csv"),
        ("Profile orders, please", "shop/orders.csv"),
        ("mean price by month of the customers", None),
        ("both", None),
        ("", None),
    ],
)
def test_what_was_answered_to_about_the_same_is_the_answer(text: str, answer: str | None) -> None:
    offered = ["shop/orders.csv", "old/orders.csv"]
    assert answered_before(script(), text, offered) == answer
    assert answered_before(script(""), text, offered) is None
    assert answered_before(script(), text, ["new.csv"]) is None


def test_columns_are_remembered_too() -> None:
    assert answered_before(script(), "predict which town", ["age", "town"]) == "town"


@pytest.mark.parametrize(
    ("path", "gaps"),
    [("a.csv", "drop"), ("b.csv", "fill"), ("c.csv", "keep"), ("d.csv", None), ("e.csv", None)],
)
def test_gaps_are_treated_as_they_were(path: str, gaps: str | None) -> None:
    assert gaps_before(script(), path) == gaps


def test_what_is_not_written_as_an_answer_is_none() -> None:
    odd = "- For “town”: `a`\n## Answers\nFor “town” `a`\n## Files\n- For “town”: `a`"
    assert answered_before(script(odd), "town", ["a"]) is None
