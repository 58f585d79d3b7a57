"""Plans that are kept: saved as workflows and used again, and gone back to."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from ..lab import TOKEN, LabServer
from ..person import start_in_light, use_dark_theme
from ..visit import complaints, go_back, open_panel, unfold
from .desk import Desk, execute, press, stands
from .script import Script

pytestmark = pytest.mark.slow


def get(lab: LabServer, path: str) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{lab.port}/cowork/{path}", headers={"Authorization": f"token {TOKEN}"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def newest(lab: LabServer) -> dict[str, Any]:
    """The conversation in which something has happened last."""
    found: dict[str, Any] = get(lab, "context")["items"][0]
    return found


def test_what_worked_is_saved_tried_and_run_again_from_the_panel(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    start_in_light(desk_lab)
    script.when("Report on harbours", script.writes("harbour", 1))
    desk = Desk(page, desk_lab, "kept.ipynb", "%%plan\nReport on harbours")
    card = desk.run(1)
    execute(card)

    press(card, "Save as workflow…")
    form = card.get_by_role("region", name="Save as workflow")
    expect(form.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type("Regional report")
    form.get_by_label("What you get from it").fill("A report on one region.")
    expect(form.get_by_role("checkbox", name="harbour1.txt")).to_be_checked()
    form.get_by_label("Parameter name: harbour1.txt").fill("target")
    assert complaints(page, ".jp-OutputArea .cw-sub") == []
    use_dark_theme(page)
    assert complaints(page, ".jp-OutputArea .cw-sub") == []
    form.get_by_role("button", name="Save workflow").press("Enter")
    expect(form).to_contain_text("Saved as regional_report.")
    form.get_by_label("target").fill("isle9.txt")
    form.get_by_role("button", name="Try it").press("Enter")
    panel = page.locator(".cw-panel")
    tried = panel.locator(".cw-run")
    stands(tried, "Plan ready")
    expect(tried.locator(".cw-steps")).to_contain_text("Write isle9.txt")
    follows_template(desk_lab)

    go_back(panel)
    row = own_workflow(panel, "Regional report")
    row.get_by_label("target").fill("lake1.txt")
    assert complaints(page, ".cw-panel") == []
    script.writes("lake", 1)
    press(row, "Run")
    run = panel.locator(".cw-run")
    stands(run, "Plan ready")
    expect(run.locator(".cw-steps")).to_contain_text("Write lake1.txt")
    follows_template(desk_lab)
    execute(run)
    assert desk.has("lake1.txt")
    assert not desk.has("isle9.txt")


def own_workflow(panel: Locator, title: str) -> Locator:
    """Open the form of a workflow in the overview."""
    unfold(panel, "Workflows")
    part = panel.locator("details.cw-part", has=panel.page.locator("h2", has_text="Workflows"))
    row = part.locator("li.cw-row").filter(has=panel.page.get_by_role("button", name=title))
    row.get_by_role("button", name=title).press("Enter")
    return row


def follows_template(lab: LabServer) -> None:
    """The newest run says which one it came from."""
    context = newest(lab)["id"]
    job = get(lab, f"context/{context}/jobs")["items"][-1]
    (used,) = get(lab, f"jobs/{job['id']}/card")["card"]["snapshot"]["guidance"]
    assert (used["kind"], used["name"]) == ("template", "regional_report")


def test_a_workflow_is_edited_shared_and_deleted_in_the_panel(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.when("Report on west", script.writes("west", 7))
    desk = Desk(
        page,
        desk_lab,
        "managed.ipynb",
        "%%plan --wait\nReport on west",
        "%cowork save western file",
    )
    desk.run(1)
    desk.run(2)
    expect(desk.cell(2)).to_contain_text("%cowork run western file=west7.txt")
    panel = open_panel(page)
    row = own_workflow(panel, "Western")
    press(row, "Edit")
    row.get_by_label("Title").fill("West")
    row.get_by_label("Default").fill("west8.txt")
    row.get_by_label("Default").press("Enter")
    row = panel.locator("li.cw-row").filter(has=page.get_by_text("West", exact=True))
    expect(row.get_by_role("form").get_by_label("file")).to_have_value("west8.txt")
    press(row, "Share in this folder")
    expect(row).to_contain_text("Shared as .cowork/workflows/western.json.")
    assert desk.has(".cowork/workflows/western.json")
    assert complaints(page, ".cw-panel") == []
    (desk_lab.root / ".cowork/workflows/western.json").unlink()
    press(row, "Delete", "Delete for good")
    expect(row).to_have_count(0)


def test_a_plan_has_a_history_to_compare_and_to_go_back_to(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    start_in_light(desk_lab)
    script.when("Report on alps", script.writes("alps", 1, 2))
    desk = Desk(
        page, desk_lab, "history.ipynb", "%%plan\nReport on alps", "%cowork plan --history 1 3"
    )
    card = desk.run(1)
    stands(card, "Plan ready")
    expect(card.get_by_text("History", exact=True)).to_have_count(0)
    for number, words in ((2, "Write alps1.txt with care"), (3, "Write alps1.txt twice")):
        press(card, "Edit steps")
        card.locator("textarea").first.fill(words)
        press(card, "Save")
        expect(card).to_contain_text(f"revision {number}")

    card.get_by_text("History", exact=True).press("Enter")
    history = card.get_by_role("region", name="Plan history")
    revisions = history.get_by_role("list", name="Revisions").get_by_role("listitem")
    expect(revisions).to_have_count(3)
    expect(revisions.first).to_contain_text("You: 1 step changed")
    expect(revisions.last).to_contain_text("Planner")
    differences = history.get_by_role("list", name="Differences")
    expect(differences).to_contain_text("with care → Write alps1.txt twice")
    history.get_by_label("Compare revision").select_option("1")
    expect(differences).to_contain_text("Write alps1.txt → Write alps1.txt twice")
    assert complaints(page, ".jp-OutputArea .cw-plan") == []
    use_dark_theme(page)
    assert complaints(page, ".jp-OutputArea .cw-plan") == []

    history.get_by_role("button", name="Restore revision 1").press("Enter")
    expect(revisions).to_have_count(4)
    expect(revisions.first).to_contain_text("revision 1 restored")
    expect(card.locator(".cw-step").first).not_to_contain_text("twice")
    desk.run(2)
    expect(desk.cell(2)).to_contain_text("Revision 1 → 3")
    expect(desk.cell(2)).to_contain_text("Write alps1.txt twice")
    desk.reload()
    expect(card).to_contain_text("revision 4")
    shown = get(desk_lab, f"context/{newest(desk_lab)['id']}/plan")
    assert shown["revision"] == 4
    assert [step["action"] for step in shown["plan"]["steps"]] == [
        "Write alps1.txt",
        "Write alps2.txt",
    ]
    expect(card.locator(".cw-step").first).to_contain_text("Write alps1.txt")
    expect(card.locator(".cw-step").first).not_to_contain_text("twice")
    execute(card)
    assert desk.has("alps1.txt", "alps2.txt")
