"""Notebooks through the server: in the tab that has one open, else with Jupyter's contents."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from cowork_jupyter.checkpoints import DocumentChanged
from cowork_jupyter.domain.errors import Conflict, CoworkError, NotFound, Unavailable
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.hosts.server import tabs
from cowork_jupyter.hosts.server.handler import KERNEL_TOKEN_HEADER
from cowork_jupyter.hosts.server.notebooks import join_lines, replacement
from cowork_jupyter.tools.base import ToolContext, ToolResult
from cowork_jupyter.tools.notebook.stored import parse_notebook, state_of
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace
from tests.scripted import ScriptedServer, call, text

from .api import PATIENCE, Api
from .browser import FakeTab

nbformat: Any = importlib.import_module("nbformat")  # it has no types
Call = Callable[..., Awaitable[ToolResult]]
NewTab = Callable[[], Awaitable[FakeTab]]


def notebook(*sources: str) -> dict[str, Any]:
    """Cells `c0`, `c1`, … with these sources."""
    cells = [
        nbformat.v4.new_code_cell(source, id=f"c{number}") for number, source in enumerate(sources)
    ]
    made: dict[str, Any] = json.loads(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
    return made


@pytest.fixture
def root(jp_root_dir: Path) -> Path:
    return jp_root_dir.resolve()


@pytest.fixture
def extension(jp_serverapp: Any) -> Any:
    return next(iter(jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]))


@pytest.fixture
def use(root: Path, extension: Any) -> Call:
    """Call a tool as a job of this server would."""

    async def use(name: str, /, **raw: Any) -> ToolResult:
        notebooks = extension.service.factory.tools.gate.notebooks
        context = ToolContext(Workspace(root), AgentRole.ACTOR, notebooks=notebooks)
        return await default_tools().call(name, raw, context)

    return use


@pytest.fixture
def new_tab(jp_ws_fetch: Any, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[NewTab]:
    made: list[FakeTab] = []

    async def connect() -> FakeTab:
        made.append(FakeTab(await jp_ws_fetch("cowork", "ws")))
        return made[-1]

    yield connect
    for tab in made:
        jp_asyncio_loop.run_until_complete(tab.close())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


async def opened(extension: Any, tab: FakeTab, path: str, document: dict[str, Any]) -> None:
    """Open a notebook in a tab, and wait until the server knows; it is the one used last."""
    before = [one.documents.get(path, 0.0) for one in extension.tabs._tabs]
    await tab.open(path, document)
    await until(lambda: [one.documents.get(path, 0.0) for one in extension.tabs._tabs] != before)


def save(root: Path, document: dict[str, Any], name: str = "n.ipynb") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def on_disk(path: Path) -> list[str]:
    return [cell.source for cell in state_of("n", parse_notebook("n", path.read_bytes())).cells]


async def fingerprint(use: Call, cell_id: str, path: str = "n.ipynb") -> str:
    shown = (await use("read_notebook", path=path, cell_id=cell_id)).text
    return shown.partition("fingerprint ")[2].partition("]")[0]


async def test_closed_notebook_is_changed_as_jupyter_saves_it(
    root: Path, use: Call, jp_serverapp: Any
) -> None:
    path = save(root, notebook("one", "two"))
    saved: list[str] = []
    jp_serverapp.contents_manager.register_post_save_hook(
        lambda os_path, **_: saved.append(os_path)
    )
    known = await fingerprint(use, "c0")
    result = await use("edit_cell", path="n.ipynb", cell_id="c0", fingerprint=known, source="1")
    assert on_disk(path) == ["1", "two"]
    assert result.data["open"] is False
    assert saved == [str(path)]  # what users have hooked into saving happens too
    await use("insert_cell", path="n.ipynb", source="three")
    assert on_disk(path) == ["1", "two", "three"]
    with pytest.raises(Conflict, match="has changed"):
        await use("edit_cell", path="n.ipynb", cell_id="c0", fingerprint=known, source="0")


async def test_open_notebook_is_read_and_changed_in_its_tab_and_never_on_the_disk(
    root: Path, use: Call, extension: Any, new_tab: NewTab
) -> None:
    path = save(root, notebook("saved"))
    before = path.read_bytes()
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("typed just now", "two"))
    tab.unsaved.add("n.ipynb")
    shown = await use("read_notebook", path="n.ipynb")
    assert "typed just now" in shown.text
    assert "open in the browser, with unsaved edits" in shown.text
    known = await fingerprint(use, "c1")
    result = await use("edit_cell", path="n.ipynb", cell_id="c1", fingerprint=known, source="2")
    assert tab.sources("n.ipynb") == ["typed just now", "2"]
    assert result.data["open"] is True
    assert result.data["unsaved"] is True
    assert "unsaved edits" in result.text
    assert path.read_bytes() == before


async def test_typing_between_reading_and_changing_wins(
    root: Path, use: Call, extension: Any, new_tab: NewTab
) -> None:
    save(root, notebook("one"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("one"))
    known = await fingerprint(use, "c0")
    real = tab._answer_to

    def type_first(asked: dict[str, Any]) -> dict[str, Any]:
        if asked["op"] == "change":  # the user is quicker than the message
            tab.documents["n.ipynb"]["cells"][0]["source"] = "one and more"
        return real(asked)

    tab._answer_to = type_first  # type: ignore[method-assign]
    with pytest.raises(Conflict, match="one and more") as caught:
        await use("edit_cell", path="n.ipynb", cell_id="c0", fingerprint=known, source="mine")
    assert caught.value.code == "stale_cell"
    assert tab.sources("n.ipynb") == ["one and more"]


async def test_of_two_tabs_the_one_that_was_used_last_is_asked_and_only_that(
    root: Path, use: Call, extension: Any, new_tab: NewTab
) -> None:
    save(root, notebook("saved"))
    first, second = await new_tab(), await new_tab()
    await opened(extension, first, "n.ipynb", notebook("first"))
    await opened(extension, second, "n.ipynb", notebook("second"))
    await use("insert_cell", path="n.ipynb", source="new")
    assert second.sources("n.ipynb") == ["second", "new"]
    assert first.sources("n.ipynb") == ["first"]
    assert first.asked == []
    await opened(extension, first, "n.ipynb", notebook("first"))  # the user is back in it
    assert "first" in (await use("read_notebook", path="n.ipynb")).text
    await first.close()
    await until(lambda: len(extension.tabs._tabs) == 1)
    assert "second" in (await use("read_notebook", path="n.ipynb")).text


async def test_tab_that_closes_it_in_the_middle_leaves_it_to_the_disk(
    root: Path, use: Call, extension: Any, new_tab: NewTab
) -> None:
    path = save(root, notebook("saved"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("open"))
    tab.documents.clear()  # the server does not know yet
    await use("insert_cell", path="n.ipynb", source="new")
    assert on_disk(path) == ["saved", "new"]


async def test_browser_that_goes_in_the_middle_is_an_error_that_says_so(
    root: Path, use: Call, extension: Any, new_tab: NewTab
) -> None:
    path = save(root, notebook("saved"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("open"))
    real = tab._answer_to

    def go_away(asked: dict[str, Any]) -> dict[str, Any]:
        if asked["op"] == "change":
            tab._socket.close()
        return real(asked)

    tab._answer_to = go_away  # type: ignore[method-assign]
    tab._say = _nothing_more(tab)  # type: ignore[assignment,method-assign]
    with pytest.raises(Unavailable, match="unknown whether") as caught:
        await use("insert_cell", path="n.ipynb", source="new")
    assert caught.value.code == "tab_lost"
    assert on_disk(path) == ["saved"]
    await until(lambda: not extension.tabs._tabs)
    assert "saved" in (await use("read_notebook", path="n.ipynb")).text


def _nothing_more(tab: FakeTab) -> Callable[[dict[str, Any]], Coroutine[Any, Any, None]]:
    real = tab._say

    async def say(message: dict[str, Any]) -> None:
        if tab.asked[-1]["op"] != "change":
            await real(message)

    return say


async def test_tab_that_sleeps_is_an_error_that_says_so(
    root: Path, use: Call, extension: Any, new_tab: NewTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(root, notebook("saved"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("open"))
    tab.silent = True
    monkeypatch.setattr(tabs, "PATIENCE", 0.2)
    with pytest.raises(Unavailable, match="does not answer") as caught:
        await use("read_notebook", path="n.ipynb")
    assert caught.value.code == "tab_silent"
    assert on_disk(path) == ["saved"]


async def test_reloaded_tab_has_time_to_connect_to_its_kernel(
    root: Path, extension: Any, new_tab: NewTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(root, notebook("1"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("1"))
    tab.silent = True
    monkeypatch.setattr(tabs, "PATIENCE", 0.01)
    notebooks = extension.service.factory.tools.gate.notebooks
    running = asyncio.ensure_future(notebooks.run(Workspace(root), "n.ipynb", "c0", "1"))
    await until(lambda: bool(tab.asked))
    await asyncio.sleep(0.1)
    await tab._answer(tab.asked[-1]["id"], {"ok": False, "code": "no_kernel"})
    with pytest.raises(Conflict, match="Choose one there") as caught:
        await running
    assert "Ask the user" in caught.value.advice  # only models read this


async def test_renamed_and_deleted_notebooks(
    root: Path, use: Call, extension: Any, new_tab: NewTab
) -> None:
    path = save(root, notebook("saved"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("open"))
    path.rename(root / "m.ipynb")
    with pytest.raises(Conflict, match="deleted or moved") as caught:
        await use("insert_cell", path="n.ipynb", source="new")
    assert caught.value.code == "deleted"
    tab.documents.clear()
    await opened(extension, tab, "m.ipynb", notebook("open"))
    with pytest.raises(NotFound):
        await use("insert_cell", path="n.ipynb", source="new")
    await use("insert_cell", path="m.ipynb", source="new")
    assert tab.sources("m.ipynb") == ["open", "new"]


async def test_it_is_the_same_notebook_by_whatever_path_it_was_opened(
    root: Path, use: Call, extension: Any, new_tab: NewTab
) -> None:
    save(root, notebook("saved"), "real/n.ipynb")
    (root / "link").symlink_to("real")
    tab = await new_tab()
    await opened(extension, tab, "link/n.ipynb", notebook("open"))
    await use("insert_cell", path="real/n.ipynb", source="new")
    assert tab.sources("link/n.ipynb") == ["open", "new"]
    assert tab.asked[-1]["path"] == "link/n.ipynb"


async def test_large_answers_come_in_parts(
    root: Path, use: Call, extension: Any, new_tab: NewTab
) -> None:
    save(root, notebook("saved"))
    tab = await new_tab()
    tab.part = 1000
    await opened(extension, tab, "n.ipynb", notebook(*(f"x = {n}" for n in range(300))))
    shown = await use("read_notebook", path="n.ipynb", offset=299)
    assert "x = 299" in shown.text


async def test_hidden_notebooks_are_changed_as_files(root: Path, use: Call) -> None:
    path = save(root, notebook("one"), ".drafts/n.ipynb")
    await use("insert_cell", path=".drafts/n.ipynb", source="two")
    assert on_disk(path) == ["one", "two"]


async def test_unsaved_edits_are_what_a_checkpoint_keeps(
    root: Path, extension: Any, new_tab: NewTab, jp_serverapp: Any
) -> None:
    documents = extension.service.factory.tools.gate.notebooks
    path = save(root, notebook("saved"))
    assert await documents.read_unsaved("n.ipynb") is None
    tab = await new_tab()
    typed = notebook("typed\nsince", "twö")
    await opened(extension, tab, "n.ipynb", typed)
    assert await documents.read_unsaved("n.ipynb") is None
    tab.unsaved.add("n.ipynb")
    unsaved = await documents.read_unsaved("n.ipynb")
    model = {"type": "notebook", "format": "json", "content": typed}
    await jp_serverapp.contents_manager.save(model, "n.ipynb")
    assert unsaved == path.read_bytes()  # to the byte, so that saving is no change
    assert await documents.read_unsaved("a.py") is None


async def test_a_rollback_goes_through_the_open_document(
    root: Path, extension: Any, new_tab: NewTab
) -> None:
    documents = extension.service.factory.tools.gate.notebooks
    path = save(root, notebook("saved"))
    before = path.read_bytes()
    now, content = (json.dumps(notebook(one)).encode() for one in ("open", "as it was"))
    assert (documents.is_open("n.ipynb"), documents.is_open("a.py")) == (False, False)
    assert await documents.write("n.ipynb", now, content) is False
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("open"))
    assert documents.is_open("n.ipynb")
    assert await documents.write("n.ipynb", now, content) is True
    assert tab.sources("n.ipynb") == ["as it was"]
    assert await documents.write("n.ipynb", now, content) is False, "the tab shows that already"
    assert await documents.write("n.ipynb", content, b"no notebook") is False
    tab.documents["n.ipynb"] = notebook("typed")
    with pytest.raises(DocumentChanged):
        await documents.write("n.ipynb", now, content)
    assert await documents.write("n.ipynb", None, content) is True
    assert path.read_bytes() == before


async def test_a_tab_is_told_only_what_differs() -> None:
    before, after = notebook("one", "two", "three"), notebook("one", "2", "three")
    before["metadata"], after["metadata"] = {"a": 1, "b": 2}, {"a": 1, "c": 3}
    del after["cells"][2]
    after["cells"].insert(0, nbformat.v4.new_markdown_cell("new", id="new"))
    told = replacement(join_lines(before), join_lines(after))
    assert told["cells"] == [after["cells"][0], {"id": "c0"}, {"id": "c1", "source": "2"}]
    assert told["metadata"] == {"set": {"c": 3}, "delete": ["b"]}
    assert told["expected"][1] == {"id": "c1", "cell_type": "code", "source": "two"}
    assert "content" not in told
    nameless = join_lines(before)
    for cell in nameless["cells"]:
        del cell["id"]
    assert replacement(nameless, nameless)["content"] == nameless


Made = Callable[..., Awaitable[str]]


@pytest.fixture
def agent_edits(root: Path, api: Api, scripted: ScriptedServer, use: Call) -> Made:
    """Has the agent give cells of n.ipynb another text; the first checkpoint of that."""

    async def edit(**sources: str) -> str:
        for name, source in sources.items():
            known = await fingerprint(use, name)
            edit: dict[str, Any] = {
                "path": "n.ipynb",
                "cell_id": name,
                "fingerprint": known,
                "source": source,
            }
            scripted.add(call("edit_cell", **edit))
        scripted.add(text("Done."))
        rule = {"effect": "allow", "rule": "edit_cell", "scope": "global"}
        await api.post("rules", rule, status=201)
        context = await api.new_context()
        sent = await api.post(f"context/{context}/messages", {"content": "Go"}, status=202)
        assert (await api.ended(sent["job_id"]))["status"] == "completed"
        made = (await api.get(f"context/{context}/checkpoints"))["items"]
        return f"checkpoints/{made[0]['id']}/rollback"

    return edit


@pytest.mark.usefixtures("connected")
async def test_an_open_notebook_goes_back_by_cell_and_the_way_back_is_exact(
    root: Path, api: Api, extension: Any, new_tab: NewTab, agent_edits: Made
) -> None:
    save(root, notebook("1", "2", "3"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("1", "2", "3"))
    tab.unsaved.add("n.ipynb")
    address = await agent_edits(c1="two", c2="three")
    cells = tab.documents["n.ipynb"]["cells"]
    cells[0]["source"], cells[2]["source"] = "mine", "three\nmine"
    preview = await api.post(address, {"dry_run": True})
    conflict = {"cell_id": "c2", "number": 3, "before": "3", "now": "three\nmine"}
    skipped = {"path": "n.ipynb", "why": "you also changed cell 3", "can_overwrite": True}
    assert preview["restored"] == ["n.ipynb"]
    assert (preview["skipped"], preview["partly"]) == ([], [{**skipped, "cells": [conflict]}])
    assert "Cells that only you changed stay as they are: n.ipynb." in preview["notes"]
    done = await api.post(address, {"preview": preview["preview"]})
    assert (done["restored"], done["skipped"]) == (["n.ipynb"], [])
    context = (await api.get("context"))["items"][0]["id"]
    told = (await api.get(f"context/{context}/messages"))["items"][-1]
    stayed = "Stayed as it is: cell 3 of n.ipynb."
    assert told["content"][0]["text"] == f"Rolled back. Restored: n.ipynb. {stayed}"
    assert tab.sources("n.ipynb") == ["mine", "2", "three\nmine"]
    also = await api.post(address, {"overwrite_cells": {"n.ipynb": ["c2"]}})
    assert (also["restored"], also["skipped"]) == (["n.ipynb"], [])
    assert tab.sources("n.ipynb") == ["mine", "2", "3"]
    await api.post(f"checkpoints/{also['checkpoint_id']}/rollback")
    assert tab.sources("n.ipynb") == ["mine", "2", "three\nmine"]
    await api.post(f"checkpoints/{done['checkpoint_id']}/rollback")
    assert tab.sources("n.ipynb") == ["mine", "two", "three\nmine"]


@pytest.mark.usefixtures("connected")
async def test_typing_while_a_notebook_goes_back_is_kept(
    root: Path, api: Api, extension: Any, new_tab: NewTab, agent_edits: Made
) -> None:
    save(root, notebook("1", "2"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("1", "2"))
    tab.unsaved.add("n.ipynb")
    address = await agent_edits(c1="two")
    tab.typing = ["m", "my", "mine"]
    done = await api.post(address)
    assert done["restored"] == ["n.ipynb"]
    assert tab.sources("n.ipynb") == ["mine", "2"]
    await api.post(f"checkpoints/{done['checkpoint_id']}/rollback")
    assert tab.sources("n.ipynb") == ["mine", "two"]
    tab.typing = [str(number) for number in range(100)]
    (skipped,) = (await api.post(address))["skipped"]
    assert (skipped["path"], "roll back again" in skipped["why"]) == ("n.ipynb", True)
    assert tab.sources("n.ipynb")[1] == "two"


@pytest.mark.usefixtures("connected")
async def test_what_would_happen_is_told_anew_if_it_is_not_what_was_looked_at(
    root: Path, api: Api, extension: Any, new_tab: NewTab, agent_edits: Made
) -> None:
    save(root, notebook("1", "2"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("1", "2"))
    tab.unsaved.add("n.ipynb")
    address = await agent_edits(c1="two")
    preview = await api.post(address, {"dry_run": True})
    cells = tab.documents["n.ipynb"]["cells"]
    cells[1]["source"] = "two\nmine"
    body = {"preview": preview["preview"]}
    error = await api.refused("POST", address, body, status=409)
    assert error["code"] == "preview_changed"
    anew = error["details"]["preview"]
    assert (anew["restored"], anew["dry_run"]) == ([], True)
    assert anew["skipped"][0]["cells"][0]["now"] == "two\nmine"
    assert tab.sources("n.ipynb") == ["1", "two\nmine"]

    cells[0]["source"], cells[1]["source"] = "mine", "two"
    cells[1]["execution_count"] = 7  # neither is taken back: what happens is what was looked at
    assert (await api.post(address, body))["restored"] == ["n.ipynb"]
    assert tab.sources("n.ipynb") == ["mine", "2"]


@pytest.mark.usefixtures("connected")
async def test_the_user_approves_the_diff_and_takes_it_back_in_the_open_notebook(
    root: Path, api: Api, scripted: ScriptedServer, extension: Any, new_tab: NewTab, use: Call
) -> None:
    save(root, notebook("one", "two"))
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("one", "two"))
    tab.unsaved.add("n.ipynb")
    known = await fingerprint(use, "c1")
    edit: dict[str, Any] = {"path": "n.ipynb", "cell_id": "c1", "fingerprint": known, "source": "2"}
    scripted.add(call("edit_cell", **edit), text("Done."))
    context = await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": "Go"}, status=202)
    request = await api.first_request(context)
    assert request["tool"] == "edit_cell"
    assert request["shown"]["kind"] == "diff"
    assert "-two\n+2\n" in request["shown"]["text"]
    save(root, notebook("one", "two"))  # autosaved meanwhile: the question is still the same
    await api.post(f"permissions/{request['id']}", {"decision": "allow", "scope": "once"})
    job = await api.ended(sent["job_id"])
    assert job["status"] == "completed"
    assert tab.sources("n.ipynb") == ["one", "2"]

    made = [
        one
        for one in (await api.get(f"context/{context}/checkpoints"))["items"]
        if one["tool"] == "edit_cell"
    ]
    answer = await api.post(f"checkpoints/{made[0]['id']}/rollback", {})
    assert answer["restored"] == ["n.ipynb"]
    assert tab.sources("n.ipynb") == ["one", "two"]


async def test_only_pages_of_users_may_connect(
    extension: Any, jp_ws_fetch: Any, http_server_client: Any, jp_base_url: str
) -> None:
    with pytest.raises(HTTPClientError, match="403"):
        await http_server_client.fetch(f"{jp_base_url}cowork/ws")
    extension.kernel_tokens.kernel_of = lambda _token: type("K", (), {"owner": "x", "id": "k"})()
    with pytest.raises(HTTPClientError, match="403"):
        await jp_ws_fetch("cowork", "ws", headers={KERNEL_TOKEN_HEADER: "token"})


async def test_a_page_that_talks_nonsense_is_cut_off_and_harms_nobody(
    root: Path, use: Call, extension: Any, new_tab: NewTab
) -> None:
    save(root, notebook("saved"))
    for nonsense in (
        *("no json", "[]", "{}", '{"type": "hello"}', '{"type": "subscribe", "subscription": "x"}'),
        *('{"type": "documents", "documents": [3]}', '{"type": "documents", "documents": 3}'),
    ):
        tab = await new_tab()
        await until(lambda: len(extension.tabs._tabs) == 1)
        await tab._socket.write_message(nonsense)
        await until(lambda: not extension.tabs._tabs)
    tab = await new_tab()
    await tab._socket.write_message('{"type": "answer", "question": 99, "part": "x", "last": true}')
    await opened(extension, tab, "n.ipynb", notebook("open"))
    broken = {"ok": False, "code": "broken", "message": "ouch"}
    tab._answer_to = lambda asked: {**broken, "to": asked}  # type: ignore[method-assign]
    with pytest.raises(CoworkError, match="ouch"):
        await use("read_notebook", path="n.ipynb")


async def test_what_is_pinned_goes_into_the_open_tab_and_leaves_its_typing(
    root: Path, api: Api, extension: Any, new_tab: NewTab
) -> None:
    path = save(root, notebook("a = 1"))
    before = on_disk(path)
    tab = await new_tab()
    await opened(extension, tab, "n.ipynb", notebook("typed just now"))
    tab.unsaved.add("n.ipynb")
    address = f"context/{await api.new_context(notebook='n.ipynb')}/expectations"
    made = await api.post(address, {"of": "df", "check": "unique", "column": "id"}, status=201)
    assert (await api.get(address))["items"] == [made]
    kept = tab.documents["n.ipynb"]["metadata"]["cowork"]["expectations"]
    assert [one["id"] for one in kept] == [made["id"]]
    assert tab.sources("n.ipynb") == ["typed just now"]
    assert on_disk(path) == before
