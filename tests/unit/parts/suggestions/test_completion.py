"""What a completion puts at the cursor: nothing that stands there already."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.suggestions import NearbyCell, SuggestionRequest
from cowork_jupyter.llm.frames import Frame
from cowork_jupyter.parts.suggestions.cell_context import CellContext
from cowork_jupyter.parts.suggestions.completion import (
    CompletionCache,
    complete_part,
    completion_messages,
    fit_completion,
)
from cowork_jupyter.tools.kernel.state import Variable


@pytest.mark.parametrize(
    ("answer", "prefix", "suffix", "put"),
    [
        ("by('region')", "df.group", "", "by('region')"),
        ("groupby('region')", "df.group", "", "by('region')"),
        ("df.groupby('region')", "df.group", "", "by('region')"),
        ("x = df.groupby('a')", "x = df.gr", "", "oupby('a')"),
        ("total)", "print(", ")", "total"),
        ("f(total)", "print(", ")", "f(total)"),
        ("f(total))", "print(", ")", "f(total)"),
        ("name']", "df['", "']", "name"),
        ("a + 1\nprint(a)", "b = ", "\nprint(a)", "a + 1"),
        ("\n    return 1", "if x:", "", "\n    return 1"),
        ("    return 1", "if x:\n    ", "", "return 1"),
        ("a\n\nb = 2", "x = ", "", "a"),
        ("a\ndef f():\n    pass", "x = ", "", "a"),
        ("", "x = ", "", ""),
    ],
)
def test_only_what_is_missing(answer: str, prefix: str, suffix: str, put: str) -> None:
    assert fit_completion(answer, prefix, suffix) == put


def test_it_ends_at_a_blank_line() -> None:
    assert complete_part("a = 1\n\nb") == "a = 1"
    assert complete_part("\n\n") is None
    assert complete_part("a = 1\nb = 2") is None
    assert len(complete_part("a" * 5_000) or "") == 1_200


def test_the_question_has_the_cell_the_cells_above_and_what_is_in_tables() -> None:
    table = Variable("df", "DataFrame", "2 rows", ("columns:", "  'region'  str  nulls 0"))
    cells = (NearbyCell(id="a", source="import os\ndf = load()"), NearbyCell(id="b", source="df."))
    around = CellContext(cells, (table, Variable("far", "int", "1")))
    request = SuggestionRequest(kind="complete", cell_id="b", source="df.\n# end", cursor=3)
    _, user = completion_messages(request, around, Frame("123"))
    assert "df.<CURSOR>\n# end" in user["content"]
    assert "df = load()" in user["content"]
    assert "region (str)" in user["content"]
    assert "far" not in user["content"]


def test_the_cache_forgets_what_was_not_used_for_longest() -> None:
    cache = CompletionCache()
    for number in range(300):
        cache.keep(str(number), "x")
        cache.get("0")
    assert cache.get("0") == "x"
    assert cache.get("1") is None
    assert cache.get("299") == "x"
