"""Joins that multiply rows: which table is to blame, and what is said where one side is gone."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.effects import DataWarning

from .notebooks import Notebook, cells_of
from .watching import watched

# 207 orders; the managers of three of four regions are listed twice: 105 rows more.
SHOP = """
    import pandas as pd

    orders = pd.DataFrame({"region": ["N"] * 40 + ["S"] * 40 + ["W"] * 25 + ["E"] * 102})
    orders["amount"] = range(207)
    managers = pd.DataFrame({"region": ["N", "S", "W"], "manager": ["Ann", "Bo", "Cy"]})
    m2 = pd.concat([managers] * 2)
    orders.to_csv("orders.csv", index=False)
"""
MOST = "3 keys appear twice in m2"
ADDED = "105 rows were added."


def multiplied(code: str) -> list[DataWarning]:
    found = watched(Notebook("joins", (*cells_of(SHOP), code))).warnings
    return [one for one in found if one.code == "join_multiplied_rows"]


@pytest.mark.parametrize(
    ("code", "relation"),
    [
        ('j = orders.merge(m2, on="region", how="left")', "many_to_one"),
        ('j = m2.merge(orders, on="region", how="right")', "one_to_many"),
        ('j = orders.merge(m2, on="region")', "many_to_one"),
        ('j = m2.merge(orders, on="region")', "one_to_many"),
        ('j = orders.merge(m2, on="region", how="outer")', "many_to_one"),
    ],
)
def test_the_table_to_look_up_in_is_to_blame_and_not_the_facts(code: str, relation: str) -> None:
    (warning,) = multiplied(code)
    assert warning.message == f"The join multiplied rows. {MOST}; {ADDED}"
    assert warning.advice.startswith("Remove the repeated keys of m2 first")
    assert f'validate="{relation}"' in warning.advice


def test_of_facts_on_the_other_side_nobody_is_told_to_remove_rows() -> None:
    code = "m3 = pd.concat([managers, managers.head(1)])\n"
    (warning,) = multiplied(code + 'j = m3.merge(orders, on="region", how="left")')
    assert "in orders; 141 rows were added." in warning.message
    assert "Remove" not in warning.advice


@pytest.mark.parametrize(
    "code",
    [
        'j = orders.merge(pd.concat([managers] * 2), on="region", how="left")',
        'orders = orders.merge(pd.concat([managers] * 2), on="region", how="left")',
        'j = pd.concat([managers] * 2).merge(orders, on="region", how="right")',
    ],
)
def test_a_side_without_a_name_multiplies_rows_as_well(code: str) -> None:
    (warning,) = multiplied(code)
    assert warning.message == "The join multiplied rows. orders had 207 rows; 105 were added."
    assert "keys of the table joined to orders first" in warning.advice


@pytest.mark.parametrize(
    "code",
    [
        'j = pd.read_csv("orders.csv").merge(m2, on="region", how="left")',
        'k = pd.read_csv("orders.csv")\nk = k.merge(m2, on="region", how="left")',
        'k = pd.read_csv("orders.csv")\nk = k.merge(m2, on="region")',
        'k = pd.read_csv("orders.csv").head(9)\nk = k.merge(m2, on="region", how="left")',
    ],
)
def test_a_table_that_is_gone_had_its_rows_multiplied(code: str) -> None:
    (warning,) = multiplied(code)
    assert warning.message == f"The join multiplied rows. {MOST}."
    assert warning.advice.startswith("Remove the repeated keys of m2 first")


@pytest.mark.parametrize(
    "code",
    [
        'j = managers.merge(pd.read_csv("orders.csv"), on="region", how="left")',
        'managers.to_csv("m.csv")\nj = pd.read_csv("m.csv").merge(orders, on="region", how="left")',
        'k = pd.read_csv("orders.csv")\nk = k.merge(managers, on="region", how="left")',
        'k = pd.read_csv("orders.csv").tail(9)\nk = k.merge(m2, on="region", how="left")',
    ],
)
def test_rows_that_belong_to_one_of_the_other_side_are_not_multiplied(code: str) -> None:
    assert multiplied(code) == []


def test_polars_pairs_no_missing_keys() -> None:
    code = """
    import polars as pl
    orders = pl.DataFrame({"region": ["N", "N", "S", None, None]})
    m2 = pl.DataFrame({"region": ["N", "N", None, None, None], "manager": list("abcde")})
    j = orders.join(m2, on="region", how="left")
    """
    (warning,) = multiplied(cells_of(code)[0])
    assert warning.message.endswith("1 key appears twice in m2; 2 rows were added.")
