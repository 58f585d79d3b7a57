"""Notebooks that a program without our extension has open: a session, and no tab of ours."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.replies import Question
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.kernel.state import Code, CodeRun
from cowork_jupyter.tools.notebook.edit_tools import LEAVE, WRITE
from cowork_jupyter.tools.notebook.state import OpenElsewhere
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace
from tests.scripted import ScriptedServer, call, text

from .api import Api
from .test_notebooks import Call, NewTab, fingerprint, notebook, on_disk, opened, save, until
from .test_notebooks import extension as extension
from .test_notebooks import new_tab as new_tab
from .test_notebooks import root as root
from .test_notebooks import use as use

Session = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def session(jp_fetch: Any) -> Session:
    """Opens a notebook as an editor does: a session over the API, and a kernel for it."""

    async def make(path: str = "n.ipynb") -> dict[str, Any]:
        wanted = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        answer = await jp_fetch("api", "sessions", method="POST", body=json.dumps(wanted))
        made: dict[str, Any] = json.loads(answer.body)
        return made

    return make


async def each_change(use: Call) -> list[tuple[str, dict[str, Any]]]:
    known = await fingerprint(use, "c0")
    return [
        ("insert_cell", {"source": "new"}),
        ("edit_cell", {"cell_id": "c0", "fingerprint": known, "source": "1"}),
        ("move_cell", {"cell_id": "c1", "index": 0}),
        ("delete_cell", {"cell_id": "c0", "fingerprint": known}),
    ]


async def test_no_tool_writes_under_a_program_that_we_cannot_reach(
    root: Path, use: Call, session: Session
) -> None:
    path = save(root, notebook("one", "two"))
    before = path.read_bytes()
    await session()
    for name, parameters in await each_change(use):
        with pytest.raises(OpenElsewhere) as caught:
            await use(name, path="n.ipynb", **parameters)
        assert caught.value.details == {"notebook": "n.ipynb"}
        assert "Do not write it another way" in caught.value.for_model
    assert path.read_bytes() == before
    save(root, notebook("one"), "closed.ipynb")
    await use("insert_cell", path="closed.ipynb", source="new")
    assert on_disk(root / "closed.ipynb") == ["one", "new"]


@pytest.mark.parametrize(("answer", "expected"), [(WRITE, 3), (LEAVE, 1), (None, 1)])
async def test_the_user_is_asked_once_in_a_run(
    root: Path, extension: Any, session: Session, answer: str | None, expected: int
) -> None:
    path = save(root, notebook("one"))
    await session()
    asked: list[Question] = []

    async def ask(question: Question) -> str | None:
        asked.append(question)
        return answer

    notebooks = extension.service.factory.tools.gate.notebooks
    context = ToolContext(Workspace(root), AgentRole.ACTOR, notebooks=notebooks, ask=ask)
    for source in ("two", "three"):
        try:
            raw = {"path": "n.ipynb", "source": source}
            await default_tools().call("insert_cell", raw, context)
        except OpenElsewhere:
            assert answer != WRITE
    assert len(on_disk(path)) == expected
    (question,) = asked
    assert question.question == "n.ipynb is open in another program. Write the file anyway?"
    assert question.default == LEAVE


async def test_a_tab_of_ours_is_reached_whatever_sessions_there_are(
    root: Path, use: Call, session: Session, extension: Any, new_tab: NewTab
) -> None:
    path = save(root, notebook("one"))
    await session()
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("one"))
    await use("insert_cell", path="n.ipynb", source="new")
    assert tab.sources("n.ipynb") == ["one", "new"]
    tab.documents.clear()  # closed by its user, who leaves the kernel running
    await tab.show()
    await until(lambda: not any(one.documents for one in extension.tabs._tabs))
    await use("insert_cell", path="n.ipynb", source="on the disk")
    assert on_disk(path) == ["one", "on the disk"]


async def test_a_front_end_that_is_connected_has_it_open_also_after_a_tab_of_ours(
    root: Path,
    use: Call,
    session: Session,
    extension: Any,
    new_tab: NewTab,
    jp_ws_fetch: Any,
) -> None:
    path = save(root, notebook("one"))
    kernel = (await session())["kernel"]["id"]
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("one"))
    await tab.close()
    await until(lambda: not extension.tabs._tabs)
    editor = await jp_ws_fetch("api", "kernels", kernel, "channels")
    with pytest.raises(OpenElsewhere):
        await use("insert_cell", path="n.ipynb", source="new")
    assert on_disk(path) == ["one"]
    editor.close()


async def test_a_kernel_that_we_started_ourselves_is_nobodys_document(
    root: Path, use: Call, extension: Any
) -> None:
    path = save(root, notebook("one"))
    kernels = extension.service.factory.tools.kernels
    await kernels.run(Workspace(root), CodeRun("n.ipynb", Code("1"), start=True))
    await use("insert_cell", path="n.ipynb", source="new")
    assert on_disk(path) == ["one", "new"]


@pytest.mark.usefixtures("connected")
async def test_the_run_goes_on_and_a_rollback_leaves_the_file_unless_told(
    root: Path, api: Api, scripted: ScriptedServer, session: Session
) -> None:
    path = save(root, notebook("one"))
    await api.post("rules", {"effect": "allow", "rule": "insert_cell", "scope": "global"}, 201)
    context = await api.new_context(notebook="n.ipynb")
    scripted.add(call("insert_cell", path="n.ipynb", source="closed"), text("Done."))
    first = (await api.post(f"context/{context}/messages", {"content": "Go"}, 202))["job_id"]
    assert (await api.ended(first))["status"] == "completed"
    assert on_disk(path) == ["one", "closed"]

    await session()
    scripted.add(call("insert_cell", path="n.ipynb", source="new"), text("Left it to you."))
    job = (await api.post(f"context/{context}/messages", {"content": "Go on"}, 202))["job_id"]
    question = await api.first_question(context)
    await api.post(f"questions/{question['id']}/answer", {"value": LEAVE})
    assert (await api.ended(job))["status"] == "completed"
    messages = (await api.get(f"context/{context}/messages"))["items"]
    (refused,) = [one["data"] for one in messages if one["data"].get("ok") is False]
    assert refused["error"]["code"] == "open_elsewhere"
    assert on_disk(path) == ["one", "closed"]

    made = (await api.get(f"context/{context}/checkpoints"))["items"]
    (checkpoint,) = [one for one in made if one["tool"] == "insert_cell"]
    back = f"checkpoints/{checkpoint['id']}/rollback"
    answer = await api.post(back, {})
    assert answer["restored"] == []
    assert answer["skipped"][0]["can_overwrite"] is True
    assert "open" in answer["skipped"][0]["why"]
    assert on_disk(path) == ["one", "closed"]
    assert (await api.post(back, {"overwrite": ["n.ipynb"]}))["restored"] == ["n.ipynb"]
    assert on_disk(path) == ["one"]
