"""A newcomer with no model and no key opens the quickstart and runs it, cell by cell."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from .lab import LabServer
from .patience import PATIENCE
from .person import open_notebook, run_cells

GOAL = "Remove duplicate rows from data/sales.csv and plot revenue over time by region"
Screenshot = Callable[[Page, str], Path]


def test_with_no_model_the_quickstart_goes_from_a_plan_to_a_chart_and_back(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    data = lab.root / "data"
    original = (data / "sales.csv").read_bytes()
    open_notebook(page, lab)
    run_cells(page, 7)

    status = page.locator(".jp-OutputArea .cw-card").first
    expect(status).to_contain_text("built-in guide · no language model")
    status.get_by_role("button", name="Check connection").click()
    expect(status.locator("[aria-live]")).to_contain_text("The built-in guide answers")

    asking = page.locator(".jp-InputArea", has_text="%%plan")
    plan = page.locator(".jp-CodeCell").filter(has=asking).locator(".cw-card")
    expect(plan.get_by_role("button", name="Execute plan")).to_be_visible(timeout=PATIENCE)
    expect(plan).to_contain_text(GOAL)
    expect(plan).to_contain_text("built-in guide · no language model")
    plan.get_by_role("button", name="Edit steps").click()
    plan.locator("textarea").first.fill(
        "Clean `data/sales.csv`: remove duplicate rows; remove empty rows and columns; "
        "fill missing `revenue` with the mean value"
    )
    plan.get_by_role("button", name="Save").click()
    expect(plan.locator(".cw-steps")).to_contain_text("fill missing revenue")
    screenshot(page, "quickstart-plan")
    assert list(data.iterdir()) == [data / "sales.csv"], "planning changes nothing"

    plan.get_by_role("button", name="Execute plan").click()
    # A machine that draws its first chart looks through all its fonts before.
    expect(plan).to_contain_text("Completed", timeout=2 * PATIENCE)
    cells = page.locator(".jp-CodeCell")
    chart = cells.filter(has_text="ax = monthly.plot.line").locator(".jp-OutputArea img")
    expect(chart.first).to_be_visible(timeout=PATIENCE)
    chart.first.scroll_into_view_if_needed()
    screenshot(page, "quickstart-chart")
    assert (data / "sales.csv").read_bytes() == original
    with (data / "sales_clean.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 324
    assert all(row["revenue"] for row in rows), "the edited step was the one carried out"

    plan.get_by_role("button", name="Roll back…").click()
    expect(plan).to_contain_text("Would be removed")
    plan.get_by_role("button", name="Roll back now").click()
    expect(plan).to_contain_text("Rolled back.")
    assert list(data.iterdir()) == [data / "sales.csv"]
    expect(page.locator(".jp-InputArea", has_text="sales_clean = ")).to_have_count(0)
    screenshot(page, "quickstart")
