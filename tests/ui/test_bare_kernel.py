"""A front end without our Lab extension: widgets draw the cards, and their buttons work.

With our server behind it, and with nothing but the kernel, as in VS Code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import ScriptedServer, call, plan, text

from .lab import LabServer
from .person import open_notebook
from .scripted_lab import write_notebook

Screenshot = Callable[[Page, str], Path]

STEP = {"action": "Write a.txt", "files": ["a.txt"], "tools_needed": ["create_file"]}
QUESTION = {
    "type": "question",
    "question": "Which colour?",
    "options": [{"label": "Red", "value": "red"}, {"label": "Blue", "value": "blue"}],
}


@contextmanager
def plain_lab(folder: Path, *, server: bool) -> Iterator[tuple[LabServer, ScriptedServer]]:
    """A Lab that does not load our extension; its server does, or not."""
    config = folder / "CONFIG"
    (config / "labconfig").mkdir(parents=True)
    disabled = {"disabledExtensions": {"cowork-jupyter": True}}
    (config / "labconfig" / "page_config.json").write_text(json.dumps(disabled))
    (config / "jupyter_server_config.d").mkdir()
    extensions = {"ServerApp": {"jpserver_extensions": {"cowork_jupyter": server}}}
    (config / "jupyter_server_config.d" / "zz.json").write_text(json.dumps(extensions))
    with ScriptedServer() as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(folder, environment) as running:
            yield running, model


def run(page: Page, number: int) -> Locator:
    """Run one cell; gives its card."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    return cell.locator(".jp-OutputArea .cw-card").last


@pytest.mark.slow
@pytest.mark.parametrize("server", [True, False])
def test_plan_question_and_approval_work_on_widgets(
    page: Page, tmp_path: Path, screenshot: Screenshot, server: bool
) -> None:
    with plain_lab(tmp_path, server=server) as (lab, model):
        asks = ["%%plan\nWrite a file", "%%ask\nWhich colour?", "%%act\nWrite b.txt"]
        write_notebook(lab.root / "bare.ipynb", "%load_ext cowork_jupyter", *asks)
        open_notebook(page, lab, "bare.ipynb")
        run(page, 0)

        model.add(plan("Write a", STEP))
        planned = run(page, 1)
        expect(planned).to_contain_text("Write a.txt")

        model.add(text(json.dumps(QUESTION)), text("Blue it is."))
        asked = run(page, 2)
        asked.get_by_role("button", name="Blue").click()
        expect(asked).to_contain_text("Blue it is.")
        screenshot(page, f"bare-{'server' if server else 'kernel'}-question")

        model.add(call("create_file", path="b.txt", content="b\n"), text("Written."))
        acting = run(page, 3)
        acting.get_by_role("button", name="Allow once").click()
        expect(acting).to_contain_text("Written.")
        assert (lab.root / "b.txt").read_text() == "b\n"
        screenshot(page, f"bare-{'server' if server else 'kernel'}-approved")

        model.add(call("create_file", path="a.txt", content="a\n"), text("Done."))
        planned.get_by_role("button", name="Execute plan").click()
        expect(planned).to_contain_text("Done.")
        assert (lab.root / "a.txt").read_text() == "a\n"
