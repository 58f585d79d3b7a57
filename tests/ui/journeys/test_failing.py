"""What goes wrong, and how one goes on from there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import plan, stall

from ..lab import LabServer
from ..patience import until
from ..person import until_ready
from .desk import Desk, answer, execute, press, role_is, stands
from .script import Script, failed, write


@pytest.mark.slow
def test_a_failed_step_is_planned_anew_and_what_is_done_stays_done(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.step("Write lakes2.txt", failed("There is no water."))
    script.when("Report on lakes", script.writes("lakes", 1, 2))
    script.when("Re-plan from here", plan("The rest of lakes", write("ponds", 1)))
    script.writes("ponds", 1)
    desk = Desk(page, desk_lab, "failing.ipynb", "%%plan\nReport on lakes")
    card = desk.run(1)
    stands(card, "Plan ready")
    press(card, "Execute plan")
    expect(card).to_contain_text("What now?")
    stands(card, "Waiting for you")
    desk.is_as_it_happened()

    answer(card, "Re-plan from here")
    stands(card, "Plan ready")
    expect(card).to_contain_text("Write ponds1.txt")
    expect(card.locator(".cw-step").first).to_contain_text("Write lakes1.txt")
    expect(card.locator(".cw-step-completed")).to_have_count(1)
    expect(card.locator(".cw-said-user")).to_have_count(0)
    desk.reload()
    desk.is_as_it_happened()
    execute(card)
    assert desk.has("lakes1.txt", "ponds1.txt")
    assert not desk.has("lakes2.txt")
    desk.reload()
    stands(card, "Completed")


def test_a_run_is_stopped_goes_on_and_survives_a_restart_of_the_server(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.step("Write rivers2.txt", stall("One moment"), stall("Still at it"))
    script.when("Report on rivers", script.writes("rivers", 1, 2))
    desk = Desk(page, desk_lab, "stopped.ipynb", "%%plan\nReport on rivers", "%cowork")
    desk.run(2)
    status = desk.cell(2).locator(".jp-OutputArea")
    expect(status.get_by_role("button", name="Check connection")).to_be_visible()
    card = desk.run(1)
    stands(card, "Plan ready")
    press(card, "Execute plan")
    expect(card.locator(".cw-step-running")).to_contain_text("Write rivers2.txt")
    press(card, "Stop")
    stands(card, "Stopped")
    desk.is_as_it_happened()
    desk.reload()
    stands(card, "Stopped")
    press(card, "Continue")
    until(page, lambda: script.times_asked("Write rivers2.txt") == 2, "the run does not continue")
    desk_lab.restart()
    page.reload()
    until_ready(page)
    stands(card, "Interrupted")
    role_is(card, "Actor")
    expect(status).to_contain_text("Model: ")
    expect(status).not_to_contain_text("Error")
    desk.is_as_it_happened()
    press(card, "Continue")
    stands(card, "Completed")
    assert desk.has("rivers1.txt", "rivers2.txt")
    desk.reload()
    stands(card, "Completed")
