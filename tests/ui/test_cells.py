"""The agent's hands in a notebook that is open in a real browser, while its user works in it."""

from __future__ import annotations

import contextlib
import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import ScriptedServer, text
from tests.scripted.server import last_words

from .agent import Agent
from .lab import LabServer
from .patience import until
from .person import open_notebook, save, use_dark_theme

TOOLS = ("insert_cell", "edit_cell", "move_cell", "delete_cell")
Screenshot = Callable[[Page, str], Path]


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer(models="scripted") as server:
        yield server


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, model: ScriptedServer) -> Iterator[LabServer]:
    environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
    folder = tmp_path_factory.mktemp("cells")
    (folder / "CONFIG").mkdir()
    patient = {"Cowork": {"notebook_seconds": 60}}  # this machine may have other things to do
    (folder / "CONFIG" / "jupyter_server_config.json").write_text(json.dumps(patient))
    with LabServer(folder, environment) as server:
        yield server


@pytest.fixture(scope="module")
def agent(lab: LabServer, model: ScriptedServer) -> Agent:
    made = Agent(lab, model)
    made.allow(*TOOLS)
    return made


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A notebook of its own for each test."""
    return f"{request.node.name[5:35]}.ipynb"


def write(lab: LabServer, name: str, *sources: str) -> Path:
    """A notebook with cells `c0`, `c1`, … of these sources."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{number}", "source": source, "metadata": {},
         "outputs": [], "execution_count": None}
        for number, source in enumerate(sources)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3"}
    document = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4}
    path = lab.root / name
    path.write_text(json.dumps({**document, "nbformat_minor": 5}))
    return path


def sources_on_disk(path: Path) -> list[str]:
    cells = json.loads(path.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells]


def open_it(page: Page, lab: LabServer, name: str, agent: Agent) -> None:
    """Open a notebook and nothing else, and wait until the server knows that it is open."""
    open_notebook(page, lab, name)
    until(page, lambda: facts(agent, name).get("open"), f"{name} is not known to be open")


def facts(agent: Agent, name: str) -> dict[str, Any]:
    """What is said of a notebook as a whole; nothing if it could not be read just now."""
    result = agent.use("read_notebook", path=name, limit=1)
    return result["data"].get("facts") or {}


def tabs(page: Page) -> Locator:
    """Those of notebooks. Lab may have come up with its launcher, before it opened any."""
    return page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=".ipynb")


def cell(page: Page, number: int) -> Locator:
    return page.locator(".jp-Notebook .jp-Cell").nth(number)


def editor(page: Page, number: int) -> Locator:
    return cell(page, number).locator(".cm-content")


def expect_source(page: Page, number: int, source: str) -> None:
    """A cell shows this; keys and edits take a moment to get there."""
    expect(editor(page, number).locator(".cm-line")).to_have_text(source.split("\n"))


def until_on_disk(page: Page, path: Path, *sources: str) -> None:
    """The file holds these cells."""

    def is_written() -> bool:
        with contextlib.suppress(ValueError):  # it is being written just now
            return sources_on_disk(path) == [*sources]
        return False

    until(page, is_written, f"{path.name} does not hold {sources}")


def save_for_good(page: Page, path: Path) -> None:
    """Save when Lab has nothing more to change: when its kernel starts, it writes into a new
    notebook what it knows about that."""

    def is_whole() -> bool:
        save(page)
        metadata: dict[str, Any] = {}
        with contextlib.suppress(ValueError):  # it is being written just now
            metadata = json.loads(path.read_text())["metadata"]
        return "language_info" in metadata and "language" in metadata["kernelspec"]

    until(page, is_whole, f"Lab does not save {path.name}")


@pytest.mark.slow
def test_typing_goes_on_while_the_agent_edits_other_cells(
    page: Page, lab: LabServer, agent: Agent, name: str, screenshot: Screenshot
) -> None:
    path = write(lab, name, "a = 1", "user", "b = 2", "c = 3")
    open_it(page, lab, name, agent)
    editor(page, 1).click()
    page.keyboard.press("End")
    typed = ""
    for number in range(6):
        words = f" w{number}"
        page.keyboard.type(words)
        typed += words
        if number == 0:
            agent.edit(name, "c0", "a = 'above'\n# a second line")
        elif number == 1:
            agent.edit(name, "c2", "b = 'below'")
        elif number == 2:
            agent.use("insert_cell", path=name, source="new = 1", index=0)
        elif number == 3:
            agent.use("move_cell", path=name, cell_id="c3", index=0)
        elif number == 4:
            known = agent.fingerprint(name, "c2")
            agent.use("delete_cell", path=name, cell_id="c2", fingerprint=known)
    expect_source(page, 3, f"user{typed}")
    expect(editor(page, 3)).to_be_focused()
    expect(cell(page, 0).locator(".cw-cell-mark")).to_contain_text("Moved by Cowork")
    screenshot(page, "cells")
    page.keyboard.press("Control+s")
    above = "a = 'above'\n# a second line"
    until_on_disk(page, path, "c = 3", "new = 1", above, f"user{typed}")


@pytest.mark.slow
def test_typing_at_full_speed_loses_no_letter(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "a = 1", "", "b = 2")
    open_it(page, lab, name, agent)
    editor(page, 1).click()
    expect(editor(page, 1)).to_be_focused()
    # The letters come from the page itself, so that they really fall between the agent's edits;
    # of a line that is much longer than this, the editor shows only a part.
    page.evaluate(
        """() => {
          let typed = 0;
          const timer = setInterval(() => {
            if (typed < 1500) {
              document.execCommand('insertText', false, String.fromCharCode(97 + typed % 26));
              typed += 1;
            }
          }, 10);
          window.stopTyping = () => { clearInterval(timer); return typed; };
        }"""
    )
    for number in range(4):
        agent.edit(name, "c0", f"a = {number}\\n" * (number + 2))
        agent.use("insert_cell", path=name, source=f"x = {number}", index=0)
    typed = page.evaluate("() => stopTyping()")
    expect_source(page, 5, "".join(chr(97 + number % 26) for number in range(typed)))
    assert typed > 0


@pytest.mark.slow
def test_stale_edit_is_refused_with_the_present_text(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    path = refuse_a_stale_edit(page, lab, agent, name)
    assert sources_on_disk(path) == ["total = 1"]  # what the user has not saved is not saved


def refuse_a_stale_edit(page: Page, lab: LabServer, agent: Agent, name: str) -> Path:
    """The notebook in which the user has typed after the agent has read."""
    path = write(lab, name, "total = 1")
    open_it(page, lab, name, agent)
    known = agent.fingerprint(name, "c0")
    editor(page, 0).click()
    page.keyboard.press("End")
    page.keyboard.type(" + 41")
    result = agent.use("edit_cell", path=name, cell_id="c0", fingerprint=known, source="total = 0")
    assert result["data"]["error"]["code"] == "stale_cell"
    assert "total = 1 + 41" in agent.said(result)
    expect_source(page, 0, "total = 1 + 41")
    return path


@pytest.mark.slow
def test_undo_takes_back_the_agents_edit_in_one_step_and_nothing_else(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "one", "two")
    open_it(page, lab, name, agent)
    editor(page, 0).click()
    page.keyboard.press("End")
    page.keyboard.insert_text(" typed")  # at once: slow letters would be undone one by one
    expect_source(page, 0, "one typed")
    agent.edit(name, "c0", "print(1)\none typed\nprint(2)")
    expect_source(page, 0, "print(1)\none typed\nprint(2)")
    page.keyboard.press("Control+z")
    expect_source(page, 0, "one typed")
    page.keyboard.press("Control+Shift+z")
    expect_source(page, 0, "print(1)\none typed\nprint(2)")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect_source(page, 0, "one")

    agent.use("insert_cell", path=name, source="new", index=1)
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)
    expect_source(page, 0, "one")
    expect_source(page, 1, "two")


@pytest.mark.slow
def test_the_notebook_behind_the_one_in_front_is_changed_and_no_other(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    front = f"front-{name}"
    write(lab, name, "behind")
    write(lab, front, "in front")
    open_it(page, lab, name, agent)
    page.locator(".jp-DirListing-item", has_text=front).dblclick()
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .cm-content")
    expect(shown).to_contain_text("in front")
    until(page, lambda: facts(agent, front).get("open"), f"{front} is not known to be open")
    shown.click()
    page.keyboard.press("End")
    page.keyboard.type("!")
    result = agent.edit(name, "c0", "changed behind")
    assert result["data"]["facts"]["open"] is True
    page.keyboard.type("!")
    expect(shown).to_have_text("in front!!")
    tabs(page).filter(has_text=re.compile(f"^{name}")).click()
    expect(shown.locator(".cm-line")).to_have_text("changed behind")
    expect(page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .cw-cell-mark")).to_be_visible()


@pytest.mark.slow
def test_cursor_and_selection_stay_in_a_cell_that_is_edited(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "first = 1\nsecond = 2\nthird = 3")
    open_it(page, lab, name, agent)
    editor(page, 0).click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Shift+Home")  # the last line is selected
    agent.edit(name, "c0", "first = 'changed'\nsecond = 2\nthird = 3")
    page.keyboard.type("mine")
    expect_source(page, 0, "first = 'changed'\nsecond = 2\nmine")


@pytest.mark.slow
def test_marked_until_seen_and_accepted_or_reverted_in_place(
    page: Page, lab: LabServer, agent: Agent, name: str, screenshot: Screenshot
) -> None:
    path = write(lab, name, "one", "two", "three", "four")
    open_it(page, lab, name, agent)
    agent.edit(name, "c0", "1")
    agent.edit(name, "c1", "2")
    agent.edit(name, "c1", "2 again")
    agent.use("insert_cell", path=name, source="new", after="c1")
    known = agent.fingerprint(name, "c3")
    agent.use("delete_cell", path=name, cell_id="c3", fingerprint=known)
    expect(page.locator(".cw-cell-changed")).to_have_count(4)
    screenshot(page, "cells-marked")
    expect(page.locator(".cw-cell-unseen")).to_have_count(0)

    cell(page, 0).get_by_role("button", name="Accept", exact=True).click()
    expect(page.locator(".cw-cell-changed")).to_have_count(3)
    cell(page, 1).get_by_role("button", name="Revert").click()
    expect_source(page, 1, "two")  # before the first of the two edits
    cell(page, 2).get_by_role("button", name="Revert").click()
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)
    cell(page, 2).get_by_role("button", name="Revert").click()
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(4)
    expect(page.locator(".cw-cell-changed")).to_have_count(0)
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Control+s")
    until_on_disk(page, path, "1", "two", "three", "four")


def test_what_changed_is_shown_until_it_is_decided_after_a_reload_and_in_every_tab(
    page: Page, second: Page, lab: LabServer, agent: Agent, name: str, screenshot: Screenshot
) -> None:
    before = 'monthly = (\n    sales.groupby("Region")["revenue"].sum()\n)'
    path = write(lab, name, before, "two", "three", "four")
    open_it(page, lab, name, agent)
    save_for_good(page, path)
    after = before.replace("Region", "region")
    agent.edit(name, "c0", after)
    agent.edit(name, "c1", "2")
    known = agent.fingerprint(name, "c2")
    agent.use("delete_cell", path=name, cell_id="c2", fingerprint=known)
    until_on_disk(page, path, after, "2", "four")

    page.reload()
    open_notebook(second, lab, name)
    for tab in (page, second):
        expect(tab.locator(".cw-cell-changed")).to_have_count(2)
        expect(cell(tab, 0).locator(".cw-line-removed")).to_have_text(before.split("\n")[1])
        expect(cell(tab, 0).locator(".cw-line-removed .cw-words-new")).to_have_text("Region")
        expect(cell(tab, 0).locator(".cw-line-added .cw-words-new")).to_have_text("region")
        expect(cell(tab, 0).locator(".cw-cell-mark")).to_contain_text("Changed by Cowork · 1 line")
        gone = cell(tab, 1).get_by_role("group", name="Cowork deleted a cell here")
        expect(gone.locator(".cw-line-removed")).to_have_text("three")
    screenshot(page, "cells-changed")
    expect_source(page, 0, after)  # what was removed is shown, and is no part of the text

    aside = cell(page, 0).get_by_role("button", name="Side by side")
    aside.focus()
    page.keyboard.press("Enter")
    sides = cell(page, 0).locator(".cw-cell-sides pre")
    expect(sides).to_have_count(2)
    expect(sides.first.locator(".cw-words-new")).to_have_text("Region")
    expect(sides.last.locator(".cw-words-new")).to_have_text("region")
    use_dark_theme(page)
    screenshot(page, "cells-changed-dark")

    cell(page, 0).get_by_role("button", name="Accept", exact=True).click()
    for tab in (page, second):
        expect(cell(tab, 0).locator(".cw-cell-mark, .cw-line-removed")).to_have_count(0)
        expect(tab.locator(".cw-cell-changed")).to_have_count(1)
    gone = cell(page, 1).get_by_role("group", name="Cowork deleted a cell here")
    gone.get_by_role("button", name="Revert").click()
    expect_source(page, 2, "three")
    expect(gone).to_have_count(0)
    cell(page, 1).get_by_role("button", name="Revert").click()
    expect_source(page, 1, "two")
    for tab in (page, second):
        expect(tab.locator(".cw-cell-changed")).to_have_count(0)
    save_for_good(page, path)
    page.reload()
    expect_source(page, 1, "two")
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(4)
    expect(page.locator(".cw-cell-changed")).to_have_count(0)


@pytest.mark.slow
def test_reverting_a_cell_that_the_user_went_on_writing_asks_first(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "one")
    open_it(page, lab, name, agent)
    agent.edit(name, "c0", "1")
    expect(page.locator(".cw-cell-changed")).to_have_count(1)
    editor(page, 0).click()
    page.keyboard.press("Control+Enter")
    expect(cell(page, 0).locator(".jp-OutputArea-output")).to_contain_text("1")
    expect(page.locator(".cw-cell-changed")).to_have_count(1)  # to run it is not to change it
    editor(page, 0).click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" + 41")
    mark = cell(page, 0).locator(".cw-cell-mark")
    expect(mark).to_contain_text("you edited it since")
    mark.get_by_role("button", name="Revert").click()
    expect(mark).to_contain_text("Revert also undoes your own edit of this cell.")
    expect_source(page, 0, "1 + 41")
    mark.get_by_role("button", name="Keep it").click()
    expect_source(page, 0, "1 + 41")
    mark.get_by_role("button", name="Revert").click()
    mark.get_by_role("button", name="Revert all of it").click()
    expect_source(page, 0, "one")
    expect(page.locator(".cw-cell-changed")).to_have_count(0)


@pytest.mark.slow
def test_saved_if_it_was_saved_and_left_alone_if_it_was_not(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    path = write(lab, name, "one", "two")
    open_it(page, lab, name, agent)
    save_for_good(page, path)
    agent.edit(name, "c0", "1")
    until_on_disk(page, path, "1", "two")
    until(page, lambda: facts(agent, name).get("unsaved") is False, f"{name} is not saved")
    editor(page, 1).click()
    page.keyboard.press("End")
    page.keyboard.type("!")
    expect_source(page, 1, "two!")
    left = agent.edit(name, "c0", "one again")
    assert left["data"]["facts"]["unsaved"] is True
    assert sources_on_disk(path) == ["1", "two"]


@pytest.mark.slow
def test_long_notebook_stays_where_the_user_looks(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, *(f"x{number} = {number}" for number in range(120)))
    open_it(page, lab, name, agent)
    here = _scroll_half_way_down(page)
    shown = agent.said(agent.use("read_notebook", path=name, offset=100, limit=5))
    assert "x104 = 104" in shown
    target = page.locator(".jp-Notebook .jp-Cell", has_text=f"x{here} = {here}").first
    target.scroll_into_view_if_needed()
    target.locator(".cm-content").click()
    page.keyboard.press("End")
    page.keyboard.type(" + 1")
    before = _settled(target)
    agent.use("insert_cell", path=name, source="\n".join("y = 1" for _ in range(20)), index=0)
    agent.edit(name, f"c{here - 10}", "\n".join("z = 1" for _ in range(10)))
    agent.edit(name, "c115", "x115 = 'changed'")
    page.keyboard.type(" + 2")
    expect(target.locator(".cm-content")).to_contain_text(f"x{here} = {here} + 1 + 2")
    assert abs(_settled(target) - before) < 40
    assert "x115 = 'changed'" in agent.said(agent.use("read_notebook", path=name, cell_id="c115"))


def _scroll_half_way_down(page: Page) -> int:
    """The number in the cell that is then in the middle of the screen.

    Lab fills a long notebook while it is idle: half of what is there is not half of the notebook.
    """
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(120)
    scroller = page.locator(".jp-Notebook .jp-WindowedPanel-outer")
    scroller.evaluate("node => { node.scrollTop = node.scrollHeight / 2 }")
    found = page.wait_for_function(
        """() => {
          const there = [400, 410].map(y => document.elementFromPoint(640, y)?.closest('.jp-Cell'));
          const cell = there.find(Boolean);  // one of them may be between two cells
          const number = Number(/x(\\d+) = /.exec(cell?.textContent ?? '')?.[1]);
          return number > 30 ? number : null;
        }"""
    )
    return int(found.json_value())


def _settled(one: Locator) -> float:
    """Where it stands on the screen, once it has come to rest: for a number of frames, between
    which the page has done all that it had to do, however long that took."""
    top: float = one.evaluate(
        """async node => {
          const idle = () => new Promise(done => requestIdleCallback(done));
          const frame = () => new Promise(done => requestAnimationFrame(done));
          let top = NaN;
          for (let still = 0; still < 20; still += 1) {
            await idle();
            await frame();
            const now = node.getBoundingClientRect().top;
            still = now === top ? still : 0;
            top = now;
          }
          return top;
        }"""
    )
    return top


@pytest.mark.slow
def test_of_two_tabs_the_one_in_use_is_changed(
    page: Page, second: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "one", "two")
    open_it(page, lab, name, agent)
    open_it(second, lab, name, agent)
    editor(second, 0).click()
    second.keyboard.press("End")
    second.keyboard.type(" in the second tab")
    until_read(agent, second, name, "in the second tab")
    agent.edit(name, "c1", "changed")
    expect_source(second, 1, "changed")
    second.context.close()
    until_read(agent, page, name, "two")  # the second is gone, the first is as it was
    expect_source(page, 1, "two")
    agent.edit(name, "c1", "changed in the first")
    expect_source(page, 1, "changed in the first")


def until_read(agent: Agent, page: Page, name: str, words: str) -> None:
    """The agent sees these words in the notebook."""

    def is_read() -> bool:
        return words in agent.said(agent.use("read_notebook", path=name))

    until(page, is_read, f"{name} does not read {words}")


@pytest.mark.slow
def test_renamed_closed_and_deleted_notebooks(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    path = write(lab, name, "one")
    open_it(page, lab, name, agent)
    new = f"renamed-{name}"
    tab = tabs(page)
    tab.click(button="right")
    page.locator(".lm-Menu-item", has_text="Rename Notebook").click()
    field = page.locator(".jp-Dialog input")
    field.fill(new)
    field.press("Enter")
    expect(tab).to_contain_text("renamed-")
    until(page, lambda: facts(agent, new).get("open"), f"{new} is not known to be open")
    agent.edit(new, "c0", "after the rename")
    expect_source(page, 0, "after the rename")
    gone = agent.use("insert_cell", path=name, source="x")
    assert gone["data"]["error"]["code"] == "not_found"
    assert not path.exists()

    save_for_good(page, lab.root / new)
    tab.locator(".lm-TabBar-tabCloseIcon").click()
    expect(page.locator(".jp-Notebook")).to_have_count(0)
    until(page, lambda: facts(agent, new).get("open") is False, f"{new} is not known to be closed")
    until(page, lambda: not connections(lab, new), "Lab does not let go of the kernel")
    closed = agent.use("insert_cell", path=new, source="on the disk")
    assert closed["data"]["facts"]["open"] is False
    assert sources_on_disk(lab.root / new) == ["after the rename", "on the disk"]


def connections(lab: LabServer, name: str) -> int:
    """How many front ends have the notebook's kernel."""
    with urllib.request.urlopen(lab.url("api/sessions"), timeout=60) as answer:
        sessions: list[dict[str, Any]] = json.load(answer)
    return sum(one["kernel"]["connections"] for one in sessions if one["path"] == name)


def test_rollback_goes_through_the_open_document(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "one", "two", "three")
    open_it(page, lab, name, agent)
    editor(page, 2).click()
    page.keyboard.press("End")
    page.keyboard.type(" typed")
    agent.edit(name, "c0", "changed")
    made: list[dict[str, Any]] = agent.request("GET", f"context/{agent.context}/checkpoints")[
        "items"
    ]
    target = next(one for one in made if one["tool"] == "edit_cell")
    answer = agent.request("POST", f"checkpoints/{target['id']}/rollback", {})
    assert answer["restored"] == [name], answer
    expect_source(page, 0, "one")
    expect_source(page, 2, "three typed")  # unsaved, and part of the checkpoint
    page.keyboard.type("!")
    expect_source(page, 2, "three typed!")


@pytest.mark.slow
def test_the_model_is_told_where_the_user_is(
    page: Page, lab: LabServer, agent: Agent, model: ScriptedServer, name: str
) -> None:
    write(lab, name, "first = 1", "second = 2", "third = 3")
    open_it(page, lab, name, agent)
    editor(page, 1).click()
    page.keyboard.press("End")
    page.keyboard.type(" + typed")
    page.keyboard.press("Control+Shift+ArrowLeft")
    model.add(text("Done."))
    agent.run(notebook=name)
    told = next(filter(None, (last_words(one.body, "user") for one in model.requests[::-1])))
    assert f"Notebook {name}: 3 cells, " in told
    assert "open in the browser, with unsaved edits." in told
    assert "Cell 1 · c1 · code" in told.partition("the user's current cell:")[0].rpartition("\n")[2]
    assert "the user's current cell:\n    second = 2 + typed\n" in told
    assert "They have selected:\n    typed\n" in told
    assert "    first = 1\n" in told
    assert "    third = 3\n" in told


@pytest.mark.slow
def test_what_depends_on_a_changed_cell_is_run_with_one_click(
    page: Page, lab: LabServer, agent: Agent, name: str, screenshot: Screenshot
) -> None:
    write(lab, name, "base = 2", "print(base * 2)")
    open_it(page, lab, name, agent)
    for number in range(2):
        editor(page, number).click()
        page.keyboard.press("Shift+Enter")
    expect(cell(page, 1).locator(".jp-OutputArea-output")).to_have_text("4")
    agent.edit(name, "c0", "base = 3")
    stale = cell(page, 0).locator(".cw-stale")
    expect(stale).to_contain_text("1 cell depends on this")
    stale.get_by_role("button", name="Show them").click()
    expect(stale).to_contain_text("uses base")
    screenshot(page, "stale")
    stale.get_by_role("button", name="Run them").click()
    expect(cell(page, 1).locator(".jp-OutputArea-output")).to_have_text("6")
