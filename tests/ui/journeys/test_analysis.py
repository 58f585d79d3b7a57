"""Is the analysis right? Effects, expectations, figures and assumptions, as a person meets them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import call, plan, text

from ..lab import LabServer
from ..person import choose_in_menu
from .desk import Desk, answer, execute, press, stands
from .script import Script

pytestmark = pytest.mark.slow

TABLES = (
    "import pandas as pd\n"
    "customers = pd.DataFrame({'id': [1, 2, 2, 3], 'segment': list('aabb')})\n"
    "orders = pd.DataFrame({'id': [1, 2, 2, 9], 'revenue': [10.0, 20.0, 30.0, 40.0]})"
)
JOIN = "orders = orders.merge(customers, on='id', how='left')"
Screenshot = Callable[[Page, str], Path]


def effect(card: Locator, of: str) -> Locator:
    """The line about one table, with what hangs on it."""
    return card.locator(".cw-effect").filter(
        has=card.page.locator(".cw-effect-line strong", has_text=of)
    )


def test_a_join_that_multiplies_rows_is_seen_and_its_row_count_can_be_pinned(
    page: Page, desk_lab: LabServer, script: Script, screenshot: Screenshot
) -> None:
    script.when(
        "Join the customers", call("run_code", code=JOIN, where="notebook"), text("Joined them.")
    )
    desk = Desk(page, desk_lab, "joined.ipynb", TABLES, "%%act\nJoin the customers")
    desk.run(1)
    card = desk.run(2)
    press(card, "Allow once")
    stands(card, "Completed")
    line = effect(card, "orders")
    expect(line).to_contain_text("4 → 6 rows (+2)")
    expect(line.locator(".cw-warning").first).to_contain_text("multiplied")
    line.get_by_role("button", name="Pin…").click()
    line.get_by_role("button", name="rows = 6").click()
    expect(line).to_contain_text("Pinned: rows = 6")
    screenshot(page, "effects")
    desk.is_as_it_happened()
    desk.reload()
    expect(effect(card, "orders")).to_contain_text("4 → 6 rows (+2)")
    card.locator("summary", has_text="Expectations").click()
    expect(card.locator(".cw-expectation")).to_contain_text("rows = 6")
    card.get_by_role("button", name="Remove: rows = 6").click()
    expect(card.locator(".cw-expectation")).to_have_count(0)


def test_a_broken_expectation_fails_the_step_and_asks(
    page: Page, desk_lab: LabServer, script: Script, screenshot: Screenshot
) -> None:
    expects = [{"of": "orders", "check": "rows", "op": "=", "value": 4}]
    join = {"id": "1", "action": "Join the tables", "tools_needed": ["run_code"]}
    script.when("Revenue by segment", plan("Revenue by segment", {**join, "expects": expects}))
    script.step(
        "Join the tables", call("run_code", code=JOIN, where="notebook"), text("Joined them.")
    )
    desk = Desk(page, desk_lab, "broken.ipynb", TABLES, "%%plan\nRevenue by segment")
    desk.run(1)
    card = desk.run(2)
    stands(card, "Plan ready")
    expect(card).to_contain_text("expects: orders: rows = 4")
    press(card, "Execute plan")
    stands(card, "Waiting for you")
    expect(card).to_contain_text("rows = 4")
    expect(card).to_contain_text("it is 6")
    screenshot(page, "broken-expectation")
    answer(card, "Stop")
    stands(card, "Failed")
    desk.is_as_it_happened()


def test_a_figure_without_a_source_is_sent_back_once_and_then_marked(
    page: Page, desk_lab: LabServer, script: Script, screenshot: Screenshot
) -> None:
    claim = "Revenue is 100.0 in total; returns fell by 12.5 %."
    total = call("run_code", code="orders['revenue'].sum()", where="notebook")
    script.when("How much revenue", total, text(claim), text(claim))
    desk = Desk(page, desk_lab, "figures.ipynb", TABLES, "%%act\nHow much revenue is there?")
    desk.run(1)
    card = desk.run(2)
    press(card, "Allow once")
    stands(card, "Completed")
    expect(card.locator(".cw-figure-lost").last).to_have_text("12.5 %")
    expect(card).to_contain_text("not found in any output: 12.5 %")
    screenshot(page, "figures")
    desk.reload()
    expect(card.locator(".cw-figure-lost").last).to_have_text("12.5 %")


def test_a_corrected_assumption_goes_to_the_planner(
    page: Page, desk_lab: LabServer, script: Script, screenshot: Screenshot
) -> None:
    step = {"id": "1", "action": "Read the dates"}
    first = plan("Sales by month", step, assumptions=[{"text": "Dates are month/day"}])
    second = plan("Sales by month", {**step, "action": "Read the dates, day first"})
    script.when("Sales by month", first)
    script.when("They are day/month", second)
    desk = Desk(page, desk_lab, "assumed.ipynb", "%%plan\nSales by month")
    card = desk.run(1)
    stands(card, "Plan ready")
    expect(card.locator(".cw-assumption")).to_contain_text("Dates are month/day")
    press(card, "No…")
    card.get_by_label("What is true instead?").fill("They are day/month")
    screenshot(page, "assumption")
    press(card, "Send to the planner")
    expect(card).to_contain_text("Read the dates, day first")
    stands(card, "Plan ready")
    desk.is_as_it_happened()


def watch(page: Page) -> None:
    page.get_by_role("button", name="Watch my data").click()
    is_watched(page)


def is_watched(page: Page) -> None:
    switch = page.get_by_role("button", name="Watch my data")
    expect(switch).to_have_attribute("aria-pressed", "true")


def test_my_own_cells_are_watched_once_i_want_it(
    page: Page, desk_lab: LabServer, script: Script, screenshot: Screenshot
) -> None:
    desk = Desk(page, desk_lab, "watched.ipynb", TABLES, "orders = orders[orders.revenue > 15]")
    desk.run(1)
    expect(desk.page.locator(".cw-cell-effects")).to_have_count(0)
    watch(page)
    desk.run(2)
    expect(desk.cell(2).locator(".cw-effect-line")).to_contain_text("4 → 3 rows (−1)")
    screenshot(page, "watched")
    desk.reload()
    is_watched(page)


def test_cells_that_run_one_after_the_other_are_watched_each(
    page: Page, desk_lab: LabServer, script: Script, screenshot: Screenshot
) -> None:
    """Also from the top again, and in a kernel that has just been restarted."""
    dear, month = "orders = orders[orders.revenue > 15]", "orders['month'] = 1"
    desk = Desk(page, desk_lab, "all-watched.ipynb", TABLES, dear, month)
    watch(page)

    def told(cell: int) -> Locator:
        return desk.cell(cell).locator(".cw-effect-line")

    def are_told(numbers: str) -> None:
        expect(desk.cell(3).locator(".jp-InputArea .jp-InputPrompt")).to_have_text(numbers)
        expect(told(1)).to_have_text(
            ["customers new, 4 rows, 2 columns", "orders new, 4 rows, 2 columns"]
        )
        expect(told(2)).to_contain_text(["orders 4 → 3 rows (−1)"])
        expect(told(3)).to_have_text(["orders +1 column month"])

    choose_in_menu(page, "Run", "Run All Cells")
    are_told("[5]:")
    screenshot(page, "watched-all")
    choose_in_menu(page, "Run", "Run All Cells")
    are_told("[9]:")
    choose_in_menu(page, "Kernel", "Restart Kernel and Run All Cells…")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    are_told("[4]:")
    desk.run(1)
    expect(told(1)).to_contain_text(["customers new, 4 rows", "orders new, 4 rows"])


def test_two_plans_keep_their_own_effects_through_reload_and_restart(
    page: Page, desk_lab: LabServer, script: Script, screenshot: Screenshot
) -> None:
    for name, code in (("Drop the cheap", "orders = orders[orders.revenue > 15]"), ("Join", JOIN)):
        step = {"id": "1", "action": f"{name} orders", "tools_needed": ["run_code"]}
        script.when(f"Plan to {name}", plan(f"Plan to {name}", step))
        run = call("run_code", code=code, where="notebook")
        script.step(f"{name} orders", run, text("Done."))
    cells = ("%%plan\nPlan to Drop the cheap", "%%plan\nPlan to Join")
    desk = Desk(page, desk_lab, "two-effects.ipynb", TABLES, *cells)
    desk.run(1)
    first = desk.run(2)
    stands(first, "Plan ready")
    second = desk.run(3)
    for card in (first, second):
        execute(card)
    for again in (desk.reload, desk.restart_kernel):
        again()
        expect(effect(first, "orders")).to_contain_text("4 → 3 rows (−1)")
        expect(effect(second, "orders")).to_contain_text("3 → 5 rows (+2)")
        expect(first.locator(".cw-effect")).to_have_count(1)
        desk.is_as_it_happened()
    screenshot(page, "two-effects")
