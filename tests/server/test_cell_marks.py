"""Cells that agents have changed, as tabs are told of them and users decide."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, text

from .api import PATIENCE, Api
from .browser import FakeTab
from .test_notebooks import NewTab, notebook, opened, save, until
from .test_notebooks import extension as extension
from .test_notebooks import new_tab as new_tab
from .test_notebooks import root as root

pytestmark = pytest.mark.usefixtures("connected")


async def run(api: Api, scripted: ScriptedServer, tool: str, **parameters: Any) -> str:
    """Have the agent make one call that needs no asking; the job."""
    rule = {"effect": "allow", "rule": tool, "scope": "global"}
    if tool not in {one["rule"] for one in (await api.get("rules"))["items"]}:
        await api.post("rules", rule, 201)
    context = await api.new_context()
    scripted.add(call(tool, **parameters), text("Done."))
    sent = await api.post(f"context/{context}/messages", {"content": "Go"}, 202)
    assert (await api.ended(sent["job_id"]))["status"] == "completed"
    return str(sent["job_id"])


async def fingerprint(extension: Any, root: Path, cell_id: str) -> str:
    from cowork_jupyter.workspace import Workspace

    state = await extension.service.factory.tools.gate.notebooks.read(Workspace(root), "n.ipynb")
    return str(state.cell(cell_id).fingerprint)


def told(tab: FakeTab) -> list[list[str]]:
    """The cells that a tab was told are changed, each time."""
    marks = [one for one in tab.asked if one["op"] == "marks"]
    return [[change["cell_id"] for change in one["changes"]] for one in marks]


async def test_changes_wait_until_the_user_decides(
    root: Path, api: Api, scripted: ScriptedServer, extension: Any
) -> None:
    save(root, notebook("one", "two"))
    await run(api, scripted, "insert_cell", path="n.ipynb", source="new")
    known = await fingerprint(extension, root, "c0")
    edit: dict[str, Any] = {"path": "n.ipynb", "cell_id": "c0", "source": "1"}
    job = await run(api, scripted, "edit_cell", fingerprint=known, **edit)
    again = await fingerprint(extension, root, "c0")
    job = await run(api, scripted, "edit_cell", **{**edit, "source": "1.0"}, fingerprint=again)
    added, changed = (await api.get("cell-changes", notebook="n.ipynb"))["items"]
    assert (added["before"], added["after"]) == (None, {"cell_type": "code", "source": "new"})
    assert (changed["cell_id"], changed["job_id"]) == ("c0", job)
    assert [changed[side]["source"] for side in ("before", "after")] == ["one", "1.0"]
    assert (await api.get("cell-changes", notebook="other.ipynb"))["items"] == []

    body = {"ids": [added["id"]], "decision": "accept"}
    (decided,) = (await api.post("cell-changes", body))["items"]
    assert decided["decision"] == "accept"
    assert decided["decided_at"]
    body["decision"] = "revert"  # what was decided stays decided
    assert (await api.post("cell-changes", body))["items"] == [decided]
    left = (await api.get("cell-changes", notebook="n.ipynb"))["items"]
    assert [one["cell_id"] for one in left] == ["c0"]
    body = {"ids": ["cc_none"], "decision": "accept"}
    await api.refused("POST", "cell-changes", body, status=404, code="not_found")


async def test_a_deleted_cell_is_kept_with_its_place(
    root: Path, api: Api, scripted: ScriptedServer, extension: Any
) -> None:
    save(root, notebook("one", "two"))
    known = await fingerprint(extension, root, "c1")
    await run(api, scripted, "delete_cell", path="n.ipynb", cell_id="c1", fingerprint=known)
    (gone,) = (await api.get("cell-changes", notebook="n.ipynb"))["items"]
    assert (gone["before"]["source"], gone["after"], gone["above"]) == ("two", None, "c0")


async def test_every_tab_is_told_at_once_and_when_it_opens_the_notebook(
    root: Path, api: Api, scripted: ScriptedServer, extension: Any, new_tab: NewTab
) -> None:
    save(root, notebook("one"))
    save(root, notebook("other"), "other.ipynb")
    first = await new_tab()
    await opened(extension, first, "n.ipynb", notebook("one"))
    await opened(extension, first, "other.ipynb", notebook("other"))
    assert told(first) == []
    await run(api, scripted, "insert_cell", path="n.ipynb", source="new")
    await until(lambda: len(told(first)) == 1)
    (cell,) = told(first)[0]
    assert first.documents["n.ipynb"]["cells"][1]["id"] == cell

    second = await new_tab()
    await opened(extension, second, "n.ipynb", notebook("one"))
    await until(lambda: told(second) == [[cell]])
    (change,) = (await api.get("cell-changes", notebook="n.ipynb"))["items"]
    await api.post("cell-changes", {"ids": [change["id"]], "decision": "accept"})
    await until(lambda: told(first) == [[cell], []] and told(second) == [[cell], []])
    assert {one["path"] for one in first.asked if one["op"] == "marks"} == {"n.ipynb"}


async def test_changes_go_along_when_a_notebook_or_its_folder_is_renamed(
    root: Path,
    api: Api,
    scripted: ScriptedServer,
    extension: Any,
    new_tab: NewTab,
    jp_serverapp: Any,
) -> None:
    save(root, notebook("one"), "old/n.ipynb")
    await run(api, scripted, "insert_cell", path="old/n.ipynb", source="new")
    contents = jp_serverapp.contents_manager
    await contents.rename("old/n.ipynb", "old/m.ipynb")
    await contents.rename("old", "newer")
    async with asyncio.timeout(PATIENCE):
        while not (items := (await api.get("cell-changes", notebook="newer/m.ipynb"))["items"]):
            await asyncio.sleep(0.02)
    tab = await new_tab()
    await opened(extension, tab, "newer/m.ipynb", notebook("one"))
    await until(lambda: told(tab) == [[items[0]["cell_id"]]])
    assert (await api.get("cell-changes", notebook="old/n.ipynb"))["items"] == []


async def test_a_kernel_may_not_decide(extension: Any) -> None:
    from cowork_jupyter.api.routes import table

    routes = [one for one in table.routes if one.path == "cell-changes"]
    assert len(routes) == 2
    assert not any(one.kernel for one in routes)
