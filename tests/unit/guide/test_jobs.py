"""What is made of a request, given the columns there are."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.jobs import GuideJob, jobs_in, join_keys
from cowork_jupyter.guide.tables import Table, table_of


def table(path: str, text: str) -> Table:
    found = table_of(path, text)
    assert found
    return found


SALES = table(
    "data/sales.csv",
    "day,region,price,units,order_id\n2024-01-01,N,1.5,3,1\n2024-02-01,S,2.5,4,2\n"
    "2024-03-01,N,3.5,5,3\n",
)
CUSTOMERS = table("customers.csv", "id,name\n1,Ann\n2,Bob\n")
ORDERS = table("orders.csv", "order,customer_id\n7,1\n8,2\n")


@pytest.mark.parametrize(
    "job",
    [
        GuideJob("profile", SALES),
        GuideJob("clean", SALES),
        GuideJob("clean", SALES, gaps="drop"),
        GuideJob("clean", SALES, gaps="fill"),
        GuideJob("time", SALES, ("day", "units"), "sum"),
        GuideJob("time", SALES, ("day", "price"), "mean"),
        GuideJob("time", SALES, ("day", "units"), "sum", split="region"),
        GuideJob("time", SALES, ("day",), "count", split="region"),
        GuideJob("category", SALES, ("region", "price"), "mean"),
        GuideJob("category", SALES, ("region",), "count"),
        GuideJob("distribution", SALES, ("units",)),
        GuideJob("join", ORDERS, ("customer_id", "id"), other=CUSTOMERS),
        GuideJob("model", SALES, ("price",)),
    ],
    ids=lambda job: job.action,
)
def test_the_sentence_of_a_plan_is_understood_as_the_job_it_describes(job: GuideJob) -> None:
    tables = [job.table, *([job.other] if job.other else [])]
    assert jobs_in(job.action, tables) == [job]


def test_without_a_hint_charts_follow_from_the_columns() -> None:
    kinds = [(job.kind, job.columns) for job in jobs_in("plot it", [SALES])]
    assert kinds == [("time", ("day", "price")), ("category", ("region", "price"))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plot units over time by region", [("time", "region")]),
        ("plot monthly units for each region", [("time", "region")]),
        ("plot units over time", [("time", "")]),
        ("plot units by month", [("time", "")]),
        ("plot units over time and by region", [("time", ""), ("category", "")]),
    ],
)
def test_a_line_for_each_is_one_chart_and_an_and_is_two(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert [(job.kind, job.split) for job in jobs_in(text, [SALES])] == found


def test_what_comes_after_cleaning_works_on_what_was_cleaned() -> None:
    text = "clean sales.csv and plot units over time"
    clean, time = jobs_in(text, [SALES])
    assert time.table.path == clean.output == "data/sales_clean.csv"
    assert "from `data/sales_clean.csv`" in time.action
    assert jobs_in(text, [SALES], [clean.output])[1].table.path == SALES.path


def test_ids_are_not_what_is_measured() -> None:
    assert jobs_in("plot the distribution", [SALES])[0].columns == ("price",)


def test_a_key_is_the_same_name_or_the_id_of_the_other_table() -> None:
    assert join_keys(ORDERS, CUSTOMERS) == ("customer_id", "id")
    assert join_keys(SALES, CUSTOMERS) is None


def test_a_model_needs_to_know_what_it_predicts() -> None:
    assert jobs_in("fit a model", [SALES]) == []
    assert jobs_in("predict units", [SALES])[0].columns == ("units",)
