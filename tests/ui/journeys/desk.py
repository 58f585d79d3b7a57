"""A person at a notebook: what the stories here are told in."""

from __future__ import annotations

import re
import time

from playwright.sync_api import Locator, Page, expect

from ..judge.judge import judge
from ..lab import LabServer
from ..person import CELL, choose_in_menu, open_notebook, save, until_ready
from ..scripted_lab import write_notebook

LOAD = "%load_ext cowork_jupyter"
RAN = re.compile(r"\[\d+\]:")


class Desk:
    """One notebook in one tab. The first cell, number 0, loads Cowork; where an agent adds cells,
    one goes by their words."""

    def __init__(self, page: Page, lab: LabServer, name: str, *cells: str) -> None:
        self.page, self.lab, self.name = page, lab, name
        self._began = time.time()
        if cells:
            write_notebook(lab.root / name, LOAD, *cells)
        open_notebook(page, lab, name)
        if cells:
            self.run(0)

    def cell(self, which: int | str) -> Locator:
        cells = self.page.locator(f"{CELL}.jp-CodeCell")
        if isinstance(which, int):
            return cells.nth(which)
        return cells.filter(has=self.page.locator(".jp-InputArea", has_text=which))

    def card(self, which: int | str) -> Locator:
        """What a cell shows of its run."""
        return self.cell(which).locator(".jp-OutputArea .cw-run")

    def run(self, which: int | str) -> Locator:
        """Run a cell, which gives the kernel back at once; the card it shows."""
        cell = self.cell(which)
        cell.locator(".jp-InputArea .cm-content").click()
        self.page.keyboard.press("Shift+Enter")
        expect(cell.locator(".jp-InputArea .jp-InputPrompt")).to_have_text(RAN)
        return self.card(which)

    def reload(self) -> None:
        """Save, and look at what is left of it."""
        save(self.page)
        if self.name in self.page.url:
            self.page.reload()
            until_ready(self.page)
        else:  # of a notebook that was renamed, Lab's address may still have the old name
            open_notebook(self.page, self.lab, self.name)

    def restart_kernel(self) -> None:
        """Nothing is known to the kernel any more, and Cowork must be loaded again."""
        choose_in_menu(self.page, "Kernel", "Restart Kernel…")
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        expect(self.page.locator("#jp-main-statusbar")).to_contain_text("| Idle")
        self.run(0)

    def rename(self, name: str) -> None:
        """Give the notebook another name, as Lab's menu does.

        Lab may still be about to open what its address names, and then says that it is gone.
        """
        gone = self.page.locator(".jp-Dialog", has_text=f"Could not find path: {self.name}")
        self.page.add_locator_handler(gone, lambda dialog: dialog.get_by_role("button").click())
        choose_in_menu(self.page, "File", "Rename Notebook…")
        dialog = self.page.locator(".jp-Dialog")
        dialog.locator("input").fill(name)
        dialog.get_by_role("button", name="Rename").click()
        expect(self.page.locator(".jp-mod-current", has_text=name).first).to_be_visible()
        self.name = name

    def is_as_it_happened(self) -> None:
        """Look at every card, here and now, and not only at the end of the story."""
        found = judge(self.page.context, self._began)
        assert not found, "\n".join(found)

    def has(self, *names: str) -> bool:
        """Whether all of these files are there."""
        return all((self.lab.root / name).exists() for name in names)


def press(card: Locator, *names: str) -> None:
    """Click, one after the other."""
    for name in names:
        card.get_by_role("button", name=name, exact=True).click()


def answer(card: Locator, label: str) -> None:
    """Choose one of the answers to a question."""
    card.locator(".cw-option").filter(has=card.page.get_by_text(label, exact=True)).click()


def stands(card: Locator, status: str) -> None:
    """Wait until the card's head says so. (Screen readers are told later.)"""
    head = card.locator(".cw-head").first
    expect(head.locator(":scope > .cw-title, :scope > .cw-working")).to_have_text(status)


def role_is(card: Locator, role: str) -> None:
    expect(card.locator(".cw-head .cw-pill").first).to_have_text(role)


def choose_role(card: Locator, role: str) -> None:
    """In the menu of the card's pill."""
    card.locator(".cw-head .cw-pill").first.click()
    card.get_by_role("menuitemradio", name=role).click()


def discuss(card: Locator, words: str) -> None:
    """Say something about what the card shows."""
    press(card, "Discuss…")
    card.get_by_label("Your message").fill(words)
    press(card, "Send")


def execute(card: Locator) -> None:
    """Approve the plan, and wait until it is done."""
    stands(card, "Plan ready")
    press(card, "Execute plan")
    stands(card, "Completed")


def roll_back(card: Locator) -> None:
    """Look at what would happen, then do it."""
    press(card, "Roll back…")
    expect(card).to_contain_text("Would be removed")
    press(card, "Roll back now")
    expect(card).to_contain_text("Rolled back.")
