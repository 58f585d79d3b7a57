"""The magics are there in every notebook and after every restart; nobody types `%load_ext`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import ScriptedServer, plan

from .lab import LabServer
from .person import card, choose_in_menu, open_notebook, until_ready
from .scripted_lab import write_notebook

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]

GOAL = "Show revenue by month"
NOT_INSTALLED = """
import sys
sys.modules["cowork_jupyter"] = None  # as where it is not: an import of it fails
from ipykernel.kernelapp import launch_new_instance
launch_new_instance()
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[LabServer]:
    """A Lab with a model, and kernels that do not load us by themselves."""
    with ScriptedServer() as model:
        model.add(plan(GOAL, "Group by month"), plan(GOAL, "Group by week"))
        _add_kernel(tmp_path, "unconfigured", ["-m", "ipykernel_launcher"])
        _add_kernel(tmp_path, "elsewhere", ["-c", NOT_INSTALLED])
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(tmp_path, environment) as running:
            yield running


def _add_kernel(folder: Path, name: str, program: list[str]) -> None:
    profile = folder / "unconfigured" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(
        "c.InteractiveShellApp.extra_extensions = []\n"
    )
    spec = {
        "argv": [sys.executable, *program, "-f", "{connection_file}"],
        "display_name": name,
        "language": "python",
        "env": {"IPYTHONDIR": str(profile.parent)},
    }
    kernel = folder / "DATA" / "kernels" / name
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(spec))


def _open(page: Page, lab: LabServer, *cells: str, kernel: str = "python3") -> None:
    path = lab.root / "new.ipynb"
    write_notebook(path, *cells)
    notebook = json.loads(path.read_text())
    notebook["metadata"]["kernelspec"] = {"name": kernel, "display_name": kernel}
    path.write_text(json.dumps(notebook))
    open_notebook(page, lab, path.name)


def _run(page: Page, number: int) -> Locator:
    """Run one cell; gives what it shows."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    return cell.locator(".jp-OutputArea")


def test_the_first_cell_can_be_a_plan_and_so_it_can_after_a_restart(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    _open(page, lab, f"%%plan\n{GOAL}", "1 + 1")
    _run(page, 0)
    expect(card(page, "Group by month")).to_be_visible()

    choose_in_menu(page, "Kernel", "Restart Kernel…")
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(page.locator(".jp-Dialog")).to_have_count(0)
    until_ready(page)
    _run(page, 1)
    expect(page.locator(".jp-InputPrompt").nth(1)).to_have_text("[1]:")
    _run(page, 0)
    card(page, GOAL).get_by_role("button", name="Run again").click()
    expect(card(page, "Group by week")).to_be_visible()
    screenshot(page, "without-load-ext")


def test_an_empty_act_is_the_first_cell_of_a_kernel_that_does_not_load_us(
    page: Page, lab: LabServer
) -> None:
    _open(page, lab, "%%act", "whatever = 1\n%cowork", "dir()", kernel="unconfigured")
    expect(_run(page, 0)).to_contain_text("This conversation has no plan yet")
    expect(_run(page, 1).locator(".cw-card")).to_be_visible()
    expect(_run(page, 2)).not_to_contain_text("find_spec")


def test_a_kernel_without_the_package_says_what_to_install_and_where(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    installing = "import sys; del sys.modules['cowork_jupyter']"
    _open(page, lab, f"%%plan\n{GOAL}", "%cowork", installing, kernel="elsewhere")
    for number in (0, 1):
        shown = _run(page, number)
        expect(shown).to_contain_text("Run %pip install cowork-jupyter in a cell, then run this")
        expect(shown).to_contain_text(f"environment, {sys.prefix}.")
        expect(shown).not_to_contain_text("Traceback")
    screenshot(page, "not-installed")
    _run(page, 2)
    _run(page, 0)
    expect(card(page, "Group by month")).to_be_visible()
