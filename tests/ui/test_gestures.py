"""The gestures of a working day, right in the cells of a notebook."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .lab import TOKEN, LabServer
from .patience import until
from .person import choose_in_menu, open_notebook, use_dark_theme
from .suggesting import Suggestions, done, failed, suggesting, text
from .test_cells import cell, editor, expect_source, save_for_good, sources_on_disk, write
from .test_cells import lab as lab
from .test_cells import model as model
from .test_cells import name as name
from .visit import complaints

Screenshot = Callable[[Page, str], Path]
BROKEN = 'sales = {"region": 1}\ntotal = sales["Region"]\nprint(total)'
FIXED = BROKEN.replace("Region", "region")
WHY = "The key is `region`, in lower case."


def wake(lab: LabServer) -> None:
    """The first request starts the service. On a busy machine that can take longer than a page
    waits for an answer."""
    urllib.request.urlopen(lab.url("cowork/roles"), timeout=120).close()


@pytest.fixture(autouse=True, scope="module")
def awake(lab: LabServer) -> None:
    wake(lab)


@pytest.fixture
def suggestions(page: Page) -> Iterator[Suggestions]:
    """Whoever answers."""
    with suggesting() as made:
        made.answer(page)
        yield made


@pytest.fixture
def settings(lab: LabServer) -> Iterator[Callable[..., None]]:
    """Sets our settings for pages that are opened then; afterwards they are as they come."""

    def put(**values: bool) -> None:
        request = urllib.request.Request(
            f"http://127.0.0.1:{lab.port}/lab/api/settings/cowork-jupyter:plugin",
            method="PUT",
            data=json.dumps({"raw": json.dumps(values)}).encode(),
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=60).close()

    yield put
    put()


def run(page: Page, number: int) -> None:
    editor(page, number).click()
    page.keyboard.press("Control+Enter")


def fix_row(page: Page, number: int = 0) -> Locator:
    return cell(page, number).locator(".cw-fix-row")


def suggestion(page: Page, number: int = 0) -> Locator:
    return cell(page, number).get_by_role("group", name="Suggestion", exact=True)


def press(place: Locator, button: str) -> None:
    place.get_by_role("button", name=button, exact=True).click()


def fail(page: Page, lab: LabServer, name: str, *more: str) -> Path:
    """Open a notebook and run its first cell, which fails."""
    path = write(lab, name, BROKEN, *more)
    open_notebook(page, lab, name)
    run(page, 0)
    expect(fix_row(page)).to_be_visible()
    return path


def test_a_failed_cell_is_fixed_in_place_and_undone_in_one_step(
    page: Page, lab: LabServer, name: str, suggestions: Suggestions, screenshot: Screenshot
) -> None:
    path = fail(page, lab, name)
    screenshot(page, "gestures-failed")
    assert complaints(page, ".cw-fix-row") == []
    looked = threading.Event()
    suggestions.add(text(FIXED[:50]), looked, text(FIXED[50:]), done(FIXED, WHY))
    press(fix_row(page), "Fix")
    there = suggestion(page)
    expect(cell(page, 0).locator(".cw-line-added")).to_have_count(1)
    expect(there).to_contain_text("Writing…")
    expect(there.get_by_role("button", name="Stop")).to_be_focused()
    looked.set()
    expect(there).to_contain_text("The key is region, in lower case.")
    expect(there).to_contain_text("Suggested by Cowork · 1 line")
    expect(cell(page, 0).locator(".cw-line-removed .cw-words-new")).to_have_text("Region")
    expect(cell(page, 0).locator(".cw-line-added .cw-words-new")).to_have_text("region")
    expect(there.get_by_role("button", name="Accept", exact=True)).to_be_focused()
    expect(fix_row(page)).to_have_count(0)
    screenshot(page, "gestures-fix")
    assert complaints(page, ".cw-suggestion-place") == []
    sent = suggestions.requests[0]
    assert (sent["kind"], sent["source"], sent["error"]["name"]) == ("fix", BROKEN, "KeyError")
    assert "\x1b" not in sent["error"]["traceback"]

    save_for_good(page, path)  # what is proposed is no part of the document
    assert sources_on_disk(path) == [BROKEN]
    press(there, "Accept and run")
    expect(cell(page, 0).locator(".jp-OutputArea-output")).to_have_text("1")
    expect_source(page, 0, FIXED)
    expect(page.locator(".cw-suggestion, .cw-fix-row, .cw-line-added")).to_have_count(0)
    until(page, lambda: suggestions.decisions == ["accepted"], "the decision is not stored")
    editor(page, 0).click()
    page.keyboard.press("Control+z")
    expect_source(page, 0, BROKEN)


@pytest.mark.slow
def test_what_did_not_do_is_tried_again_and_can_be_rejected(
    page: Page, lab: LabServer, name: str, suggestions: Suggestions
) -> None:
    fail(page, lab, name)
    suggestions.propose("total = 0")
    suggestions.propose(FIXED)
    page.keyboard.press("Control+.")
    there = suggestion(page)
    expect(there).to_contain_text("Suggested by Cowork")
    press(there, "Try again")
    expect(there).to_contain_text("1 line")
    assert suggestions.requests[1]["tried"] == ["total = 0"]
    expect(there.get_by_role("button", name="Accept", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(there).to_have_count(0)
    expect_source(page, 0, BROKEN)
    expect(fix_row(page)).to_be_visible()
    expect(cell(page, 0)).to_be_focused()  # where the key was pressed
    until(page, lambda: suggestions.decisions == ["rejected"] * 2, "decisions are not stored")


@pytest.mark.slow
def test_escape_stops_what_is_being_written(
    page: Page, lab: LabServer, name: str, suggestions: Suggestions
) -> None:
    fail(page, lab, name)
    never = threading.Event()
    suggestions.add(text("sales = 1\n"), never, *[text("more\n")] * 1000, done("sales = 1"))
    press(fix_row(page), "Fix")
    expect(suggestion(page)).to_contain_text("Writing…")
    editor(page, 0).click()
    page.keyboard.press("Escape")
    expect(suggestion(page)).to_contain_text("Stopped.")
    expect(cell(page, 0).locator(".cw-line-added, .cw-line-removed")).to_have_count(0)
    never.set()
    until(page, suggestions.gone.is_set, "the request goes on")
    press(suggestion(page), "Close")
    expect_source(page, 0, BROKEN)
    expect(fix_row(page)).to_be_visible()


@pytest.mark.slow
def test_a_suggestion_for_a_text_that_was_edited_meanwhile_is_not_taken(
    page: Page, lab: LabServer, name: str, suggestions: Suggestions
) -> None:
    fail(page, lab, name)
    suggestions.propose(FIXED)
    press(fix_row(page), "Fix")
    expect(suggestion(page)).to_contain_text("Suggested by Cowork")
    editor(page, 0).click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("  # mine")
    expect(suggestion(page)).to_contain_text("You have edited this cell since.")
    accept = suggestion(page).get_by_role("button", name="Accept", exact=True)
    expect(accept).to_have_attribute("aria-disabled", "true")
    accept.click(force=True)
    expect_source(page, 0, f"{BROKEN}  # mine")
    editor(page, 0).click()
    page.keyboard.press("Control+z")
    expect(accept).to_have_attribute("aria-disabled", "false")


@pytest.mark.slow
def test_an_error_is_explained_below_it_and_failures_say_what_to_do(
    page: Page, lab: LabServer, name: str, suggestions: Suggestions, screenshot: Screenshot
) -> None:
    fail(page, lab, name)
    looked = threading.Event()
    words = "**`Region`** is not a key.\n\n- The only key is `region`.\n"
    suggestions.add(text(words[:20]), looked, text(words[20:]), done(words))
    press(fix_row(page), "Explain")
    there = cell(page, 0).get_by_role("group", name="Explanation", exact=True)
    expect(there).to_contain_text("Region")
    looked.set()
    expect(there.locator("li")).to_have_text("The only key is region.")
    screenshot(page, "gestures-explain")
    assert complaints(page, ".cw-suggestion-place") == []
    press(there, "Close")
    expect(there).to_have_count(0)
    suggestions.add(failed("The model is busy. Try again in a minute."))
    page.keyboard.press("Control+e")
    expect(there.get_by_role("alert")).to_have_text("The model is busy. Try again in a minute.")
    suggestions.add(done("", "Nothing is wrong here."))
    press(there, "Try again")
    expect(there).to_contain_text("Nothing is wrong here.")
    use_dark_theme(page)
    screenshot(page, "gestures-explain-dark")
    assert complaints(page, ".cw-suggestion-place") == []
    assert complaints(page, ".cw-fix-row") == []


@pytest.mark.slow
def test_the_row_goes_with_the_error_and_is_there_in_a_notebook_that_was_saved_with_one(
    page: Page, lab: LabServer, name: str
) -> None:
    path = write(lab, name, BROKEN, "1")
    document = json.loads(path.read_text())
    error = {"output_type": "error", "ename": "KeyError", "evalue": "'Region'", "traceback": ["x"]}
    document["cells"][0]["outputs"] = [error]
    path.write_text(json.dumps(document))
    open_notebook(page, lab, name)
    expect(fix_row(page)).to_be_visible()
    editor(page, 0).click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(" ")
    expect(fix_row(page)).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(fix_row(page)).to_be_visible()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("print(1)")
    page.keyboard.press("Control+Enter")
    expect(cell(page, 0).locator(".jp-OutputArea-output")).to_have_text("1")
    expect(fix_row(page)).to_have_count(0)


@pytest.mark.slow
def test_a_prompt_in_an_empty_cell_writes_it_and_in_a_full_one_changes_the_selection(
    page: Page, lab: LabServer, name: str, suggestions: Suggestions, screenshot: Screenshot
) -> None:
    write(lab, name, "", "a = '🐍'\nb = 2")
    open_notebook(page, lab, name)
    suggestions.propose("import math\nmath.pi", "Pi comes with Python.")
    cell(page, 0).click()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    line = page.get_by_label("What should Cowork do with this cell?")
    expect(line).to_be_focused()
    page.keyboard.type("d d pi")  # no keys for Lab
    page.keyboard.press("Enter")
    expect(suggestion(page)).to_contain_text("Suggested by Cowork · 2 lines")
    expect(suggestion(page).get_by_role("button", name="Accept", exact=True)).to_be_focused()
    screenshot(page, "gestures-prompt")
    assert complaints(page, ".jp-Cell.jp-mod-active .cowork-root") == []
    assert suggestions.requests[0]["kind"] == "generate"
    assert suggestions.requests[0]["instruction"] == "d d pi"
    page.keyboard.press("Enter")
    expect_source(page, 0, "import math\nmath.pi")
    expect(line).to_have_count(0)
    expect(cell(page, 0)).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+z")
    expect_source(page, 0, "")

    editor(page, 1).click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Shift+Home")
    page.keyboard.press("Control+k")
    suggestions.propose("a = '🐍'\nb = 3")
    page.keyboard.type("three")
    page.keyboard.press("Enter")
    expect(suggestion(page, 1)).to_contain_text("1 line")
    sent = suggestions.requests[1]
    assert (sent["kind"], sent["selection"]) == ("change", [8, 13])
    use_dark_theme(page)
    screenshot(page, "gestures-prompt-dark")
    assert complaints(page, ".jp-Cell.jp-mod-active .cowork-root") == []
    line.click()
    page.keyboard.press("Escape")
    expect(line).to_have_count(0)
    expect(editor(page, 1)).to_be_focused()
    expect_source(page, 1, "a = '🐍'\nb = 2")


@pytest.mark.slow
def test_an_output_is_asked_about_in_the_panel(
    page: Page, lab: LabServer, name: str, screenshot: Screenshot
) -> None:
    write(lab, name, "1", "print(2)")
    open_notebook(page, lab, name)
    run(page, 1)
    expect(cell(page, 1).locator(".jp-OutputArea-output")).to_have_text("2")
    ask = page.get_by_role("button", name="Ask about this")
    expect(ask).to_be_visible()
    screenshot(page, "gestures-ask")
    assert complaints(page, ".cw-ask-output") == []
    ask.click()
    field = page.locator("#cowork-panel").get_by_label("Your message")
    expect(field).to_have_value("@output:2 ")
    expect(field).to_be_focused()


@pytest.mark.slow
def test_what_is_stale_is_marked_and_run_with_what_depends_on_it(
    page: Page, lab: LabServer, name: str, screenshot: Screenshot
) -> None:
    write(lab, name, "base = 2", "double = base * 2", "print(double)", "print('other')")
    open_notebook(page, lab, name)
    for number in range(4):
        run(page, number)
    expect(cell(page, 3).locator(".jp-OutputArea-output")).to_have_text("other")
    editor(page, 0).click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("0")
    marks = page.locator(".cw-stale-mark")
    expect(marks).to_have_count(2)
    why = "Stale: base has changed since this cell ran. Run this cell and what depends on it."
    expect(cell(page, 1).locator(".cw-stale-mark")).to_have_attribute("title", why)
    screenshot(page, "gestures-stale")
    assert complaints(page, ".cw-stale-place") == []
    cell(page, 1).locator(".cw-stale-mark").click()
    expect(cell(page, 2).locator(".jp-OutputArea-output")).to_have_text("40")
    expect(marks).to_have_count(0)

    run(page, 0)
    expect(marks).to_have_count(2)
    cell(page, 0).click(button="right")
    page.locator(".lm-Menu-item", has_text="Run What Depends on This").click()
    expect(marks).to_have_count(0)


@pytest.mark.slow
def test_a_next_cell_is_shown_until_tab_takes_it(
    page: Page, lab: LabServer, name: str, suggestions: Suggestions, screenshot: Screenshot
) -> None:
    write(lab, name, "a = 1")
    open_notebook(page, lab, name)
    for _ in range(2):
        suggestions.propose("a + 1")
    editor(page, 0).click()
    page.keyboard.press("Control+Shift+Enter")
    ghost = page.locator(".cw-next-cell")
    expect(ghost.locator("pre")).to_have_text("a + 1")
    expect(ghost).to_be_focused()
    screenshot(page, "gestures-next")
    assert complaints(page, ".cw-next-cell") == []
    page.keyboard.press("Escape")
    expect(ghost).to_have_count(0)
    expect(editor(page, 0)).to_be_focused()
    page.keyboard.press("Control+Shift+Enter")
    expect(ghost.get_by_role("button", name="Accept (Tab)")).to_be_visible()
    page.keyboard.press("Tab")
    expect_source(page, 1, "a + 1")
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(1)


@pytest.mark.slow
def test_each_gesture_can_be_switched_off_at_once(
    page: Page, lab: LabServer, name: str, settings: Callable[..., None]
) -> None:
    settings()
    fail(page, lab, name, "print(1)")
    run(page, 1)
    ask = page.get_by_role("button", name="Ask about this")
    expect(ask).to_be_visible()
    choose_in_menu(page, "Settings", "Settings Editor")
    page.locator("[id='jp-SettingsEditor'], .jp-SettingsPanel").first.wait_for()
    page.locator(".jp-PluginList-entry", has_text="Cowork").click()
    for title in (
        "Offer help under a failed cell",
        "Offer to ask about outputs",
        "Prompt in the cell",
        "Mark stale cells",
    ):
        page.get_by_label(title, exact=True).uncheck()
    expect(fix_row(page)).to_have_count(0)
    page.locator(".lm-TabBar-tab", has_text=name[:20]).first.click()
    editor(page, 0).click()
    page.keyboard.press("Control+k")
    page.keyboard.press("Control+.")
    page.keyboard.type("x")
    expect(page.locator(".cw-prompt-line, .cw-suggestion, .cw-ask-output")).to_have_count(0)
    expect(editor(page, 0)).to_be_focused()


@pytest.mark.slow
def test_a_private_cell_is_offered_nothing_and_sends_nothing(
    page: Page, lab: LabServer, name: str, suggestions: Suggestions
) -> None:
    path = write(lab, name, BROKEN, "%%plan", "1 / 0", "print(1)")
    document = json.loads(path.read_text())
    document["cells"][0]["metadata"] = {"tags": ["private"]}
    path.write_text(json.dumps(document))
    open_notebook(page, lab, name)
    run(page, 0)
    expect(cell(page, 0).locator(".jp-OutputArea-output")).to_contain_text("KeyError")
    run(page, 2)
    expect(fix_row(page, 2)).to_be_visible()
    expect(page.locator(".cw-fix-row")).to_have_count(1)
    editor(page, 0).click()
    page.keyboard.press("Control+k")
    page.keyboard.type("fix it")
    page.keyboard.press("Enter")
    expect(cell(page, 0).get_by_role("alert")).to_contain_text('tagged "private"')
    suggestions.propose("1 / 1")
    press(fix_row(page, 2), "Fix")
    expect(suggestion(page, 2)).to_contain_text("Suggested by Cowork")
    assert len(suggestions.requests) == 1
    assert [one["id"] for one in suggestions.requests[0]["cells"]] == ["c1", "c2", "c3"]


@pytest.mark.slow
def test_what_is_typed_is_completed_once_that_is_switched_on(
    page: Page,
    lab: LabServer,
    name: str,
    suggestions: Suggestions,
    settings: Callable[..., None],
    screenshot: Screenshot,
) -> None:
    settings()
    write(lab, name, "x = 1", "")
    open_notebook(page, lab, name)
    editor(page, 1).click()
    page.keyboard.type("total = ")
    settings(inlineCompletion=True)
    suggestions.add(text("x + 1"), done("x + 1"))
    open_notebook(page, lab, name)
    assert suggestions.requests == []  # it was off
    editor(page, 1).click()
    page.keyboard.type("total = ")
    ghost = page.locator(".jp-GhostText")
    expect(ghost).to_contain_text("x + 1")
    screenshot(page, "gestures-completion")
    page.keyboard.press("Tab")
    expect_source(page, 1, "total = x + 1")
    sent = suggestions.requests[-1]
    assert (sent["kind"], sent["source"], sent["cursor"]) == ("complete", "total = ", 8)


@pytest.mark.slow
def test_cells_that_did_not_run_since_the_kernel_restarted_say_so(
    page: Page, lab: LabServer, name: str, screenshot: Screenshot
) -> None:
    write(lab, name, "a = 1", "print(a)")
    open_notebook(page, lab, name)
    run(page, 0)
    run(page, 1)
    expect(cell(page, 1).locator(".jp-OutputArea-output")).to_have_text("1")
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    page.keyboard.press("0")
    page.locator(".jp-Dialog").get_by_role("button", name="Confirm Kernel Restart").click()
    expect(page.locator(".cw-earlier-kernel")).to_have_count(2)
    expect(cell(page, 0)).to_contain_text("Not run since the kernel restarted.")
    screenshot(page, "gestures-restarted")
    assert complaints(page, ".cw-stale-place") == []
    run(page, 0)
    expect(page.locator(".cw-earlier-kernel")).to_have_count(1)
