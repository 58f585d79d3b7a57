"""Two states of a table, in one line."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.effects import FieldState, TableState
from cowork_jupyter.effects.comparing import MAX_LINE, difference


def field(name: str, dtype: str = "int64", missing: int = 0, **facts: Any) -> FieldState:
    return FieldState(name=name, type=dtype, missing=missing, **facts)


def table(rows: int, *fields: FieldState, **facts: Any) -> TableState:
    given = {"columns": len(fields), "kind": "pandas.DataFrame", **facts}
    return TableState(rows=rows, fields=list(fields), **given)


ID, REGION, MONTH = field("id"), field("region", "object"), field("month")


def test_the_line_of_a_changed_table() -> None:
    before = table(12_431, ID, field("region", "object", missing=12))
    after = table(12_217, ID, REGION, MONTH)
    assert difference("orders", before, after) == (
        "orders: 12,431 → 12,217 rows (−214), +1 column month, region missing 12 → 0"
    )


def test_tables_that_come_and_go() -> None:
    state = table(12_431, ID, REGION)
    assert difference("orders", None, state) == "orders: new, 12,431 rows, 2 columns"
    assert difference("one", None, table(1, ID)) == "one: new, 1 row, 1 column"
    assert difference("orders", state, None) == "orders: removed"
    assert difference("orders", state, state) == difference("orders", None, None) == ""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (table(5, ID, REGION), table(5, ID), "−1 column region"),
        (table(5, ID), table(7, ID), "5 → 7 rows (+2)"),
        (table(5, field("price", "object")), table(5, field("price", "float64")),
         "price object → float64"),
        (table(5, field("at", "datetime64[ns, UTC]", zone="UTC")),
         table(5, field("at", "datetime64[ns]")), "at time zone UTC → none"),
        (table(5, ID, duplicates=0), table(5, ID, duplicates=3), "0 → 3 duplicate rows"),
        (table(5, field("region", values=["N", "S"])), table(5, field("region", values=["N", "W"])),
         "region lost S and gained W"),
        (table(5, field("price", total=10.0)), table(5, field("price", total=-2_500.5)),
         "price sum 10 → −2,500.50"),
        (table(5, field("day", low="2026-01-01", high="2026-01-31")),
         table(5, field("day", low="2026-02-01", high="2026-02-28")),
         "day 2026-01-01 to 2026-01-31 → 2026-02-01 to 2026-02-28"),
        (table(5, field("amt", distinct=4)), table(5, field("amount", distinct=4)),
         "amt renamed amount"),
        (table(5, ID, kind="pandas.DataFrame"), table(5, ID, kind="pandas.Series"),
         "pandas.DataFrame → pandas.Series"),
    ],
)  # fmt: skip
def test_each_kind_of_change(before: TableState, after: TableState, said: str) -> None:
    assert difference("t", before, after) == f"t: {said}"


def test_two_columns_alike_are_not_taken_for_renamed() -> None:
    before, after = (
        table(5, field("a", distinct=1), field("b", distinct=1)),
        table(5, field("c", distinct=1)),
    )
    assert difference("t", before, after) == "t: −2 columns a, b, +1 column c"


def test_numbers_are_no_categories() -> None:
    before = table(3, field("id", total=6.0, values=["1", "2", "3"]))
    assert difference("t", before, table(2, field("id", total=5.0, values=["2", "3"]))) == (
        "t: 3 → 2 rows (−1)"
    )


def test_a_sum_says_nothing_where_rows_came_or_went() -> None:
    before, after = table(5, field("price", total=10.0)), table(4, field("price", total=8.0))
    assert difference("t", before, after) == "t: 5 → 4 rows (−1)"


def test_a_sample_is_said_and_samples_of_other_rows_are_not_compared() -> None:
    before = table(9_000_000, field("region", missing=12), sampled=True)
    assert difference("t", before, table(9_000_000, field("region", missing=3), sampled=True)) == (
        "t: region missing 12 → 3 (of a sample)"
    )
    fewer = table(8_000_000, field("region", missing=3), sampled=True)
    assert difference("t", before, fewer) == "t: 9,000,000 → 8,000,000 rows (−1,000,000)"
    none = table(8_000_000, field("region", missing=0), sampled=True)
    assert difference("t", before, none).endswith(", region missing 12 → 0 (of a sample)")


def test_what_was_not_looked_at_is_not_claimed_to_differ() -> None:
    """Of a wide table the first columns are known; of a large one sometimes only the shape."""
    before, unknown = table(5, ID, REGION), TableState(rows=5, columns=2, sampled=True)
    assert difference("t", before, unknown.model_copy(update={"kind": before.kind})) == ""
    wide, wider = table(5, ID, columns=300), table(5, ID, columns=302)
    assert difference("t", wide, wider) == "t: +2 columns"
    late = TableState(rows=5, columns=1, fields=[FieldState(name="region", type="object")])
    assert difference("t", table(5, field("region", "object", missing=4), kind=""), late) == ""


def test_a_line_stays_short_and_says_how_much_more_there_is() -> None:
    before = table(5, *(field(f"a_rather_long_name_{n}") for n in range(30)))
    after = table(6, *(field(f"a_rather_long_name_{n}", missing=1) for n in range(30)))
    line = difference("orders", before, after)
    assert line.startswith("orders: 5 → 6 rows (+1), a_rather_long_name_0 missing 0 → 1, ")
    assert line.endswith(" more changes")
    assert len(line) <= MAX_LINE + 30
    many = difference("t", table(5, ID), table(5, ID, *(field(f"c{n}") for n in range(9))))
    assert many == "t: +9 columns c0, c1, c2 …"
