"""Whether a notebook still runs top to bottom: tried in a second kernel when the user says so."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.checkpoints.recorder import Recorder
from tests.scripted import ScriptedServer, stall, text

from .api import Api
from .notebook_kernel import NOTEBOOK, Place, until, write_notebook
from .notebook_kernel import place as place


async def notices(api: Api, context: str) -> list[dict[str, Any]]:
    """How those who listen are told that there is news."""
    events = (await api.get(f"context/{context}/events", after=0, timeout=20))["events"]
    return [one["data"] for one in events if one["data"].get("code") == "reproduction"]


async def tried(api: Api, context: str, **body: Any) -> dict[str, Any]:
    """What was found, as the conversation's newest message has it."""
    path = f"context/{context}/reproduce"
    begun = (await api.post(path, body, status=202))["reproduction"]
    assert begun["runs"] is None
    job = await api.ended(begun["job_id"])
    assert (job["kind"], job["status"], job["notebook"]) == ("check", "completed", NOTEBOOK)
    assert job["card_id"] == body.get("job_id", job["id"])
    assert (await api.get(path))["reproduction"] is None
    message = (await api.get(f"context/{context}/messages"))["items"][-1]
    assert (message["role"], message["job_id"]) == ("system", job["id"])
    found: dict[str, Any] = message["data"]["reproduction"]
    return {**found, "words": message["content"][0]["text"]}


def brought_back(place: Place) -> bool:
    """Whether Jupyter would start the second kernel again if it died."""
    kernels = place.app.kernel_manager
    (second,) = set(kernels.list_kernel_ids()) - {place.kernel_id}
    return kernels.get_kernel(second)._restarter._pcallback is not None


async def test_a_notebook_is_run_in_a_kernel_of_its_own_and_stays_as_it_is(
    place: Place, api: Api, jp_root_dir: Path
) -> None:
    await place.run("a = 'of the user'")
    context = await api.new_context(notebook=NOTEBOOK)
    before = (jp_root_dir / NOTEBOOK).read_bytes()
    found = await tried(api, context)
    assert found["runs"]
    assert (found["cells"], found["ran"], found["hidden"]) == (2, 2, [])
    assert "runs from top to bottom: 2 code cells" in found["words"]
    assert (jp_root_dir / NOTEBOOK).read_bytes() == before
    assert await place.value("a") == "'of the user'"
    assert len(place.app.kernel_manager.list_kernel_ids()) == 1


async def test_it_says_where_it_fails_and_what_the_kernel_hides(
    place: Place, api: Api, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir / NOTEBOOK, "a = 1", "%%act\nDo more", "x = 1\nx + gone", "y = 1")
    found = await tried(api, await api.new_context(notebook=NOTEBOOK))
    assert (found["runs"], found["cells"], found["ran"], found["left_out"]) == (False, 3, 1, 1)
    where = {"cell_id": "c2", "cell": 3, "line": 2}
    assert found["failed"] == {**where, "error": "NameError: name 'gone' is not defined"}
    assert [(one["kind"], one["cell"], one["name"]) for one in found["hidden"]] == [
        ("undefined", 3, "gone")
    ]
    assert "cell 3, line 2 failed with NameError" in found["words"]
    assert "- Cell 3: It uses 'gone', which no cell defines." in found["words"]

    commands = "# As agreed:\n%load_ext cowork_jupyter\n\n%cowork expectations\n%cowork effects"
    write_notebook(jp_root_dir / NOTEBOOK, "a = 1", commands, "# %cowork\nb = a")
    found = await tried(api, await api.new_context(notebook=NOTEBOOK))
    assert (found["runs"], found["cells"], found["left_out"]) == (True, 2, 1)

    write_notebook(jp_root_dir / NOTEBOOK, "import os\nos._exit(1)", "y = 1")
    found = await tried(api, await api.new_context(notebook=NOTEBOOK))
    assert found["failed"]["error"] == "KernelDied: the kernel died"
    assert place.app.kernel_manager.list_kernel_ids() == [place.kernel_id]


@pytest.fixture
def a_large_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    """To look at it after a tool takes a while, which is done in the background."""
    after = Recorder._after

    async def later(*what: Any) -> None:
        await asyncio.sleep(0.3)
        await after(*what)

    monkeypatch.setattr(Recorder, "_after", later)


@pytest.mark.usefixtures("connected", "a_large_workspace")
async def test_what_the_cells_change_can_be_taken_back_with_the_run(
    place: Place, api: Api, jp_root_dir: Path, scripted: ScriptedServer
) -> None:
    (jp_root_dir / "kept.txt").write_text("before")
    write_notebook(jp_root_dir / NOTEBOOK, "open('kept.txt', 'w').write('after')")
    context = await api.new_context(notebook=NOTEBOOK)
    scripted.add(text("Done."))
    sent = await api.post(f"context/{context}/messages", {"content": "Go"}, status=202)
    await api.ended(sent["job_id"])
    assert (await tried(api, context, job_id=sent["job_id"]))["runs"]
    assert (jp_root_dir / "kept.txt").read_text() == "after"
    kept = (await api.get(f"context/{context}/checkpoints"))["items"]
    assert kept[-1]["label"] == f"run all cells of {NOTEBOOK}"
    card = (await api.get(f"jobs/{sent['job_id']}/card"))["card"]
    kinds = {one["id"]: one["kind"] for one in card["snapshot"]["jobs"]}
    assert kinds[kept[-1]["job_id"]] == "check"
    assert (card["title"], card["snapshot"]["status"]) == ("Go", "completed")
    await api.post(f"checkpoints/{kept[0]['id']}/rollback", {"scope": "card"})
    assert (jp_root_dir / "kept.txt").read_text() == "before"


async def test_it_shows_how_far_it_is_and_can_be_stopped(
    place: Place, api: Api, jp_root_dir: Path, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    sleeps = f"open({str(begun)!r}, 'w').close()\nimport time\ntime.sleep(1000)"
    write_notebook(jp_root_dir / NOTEBOOK, "a = 1", sleeps, "b = 1")
    context = await api.new_context(notebook=NOTEBOOK)
    path = f"context/{context}/reproduce"
    job = (await api.post(path, status=202))["reproduction"]["job_id"]
    await until(begun.exists)
    assert not brought_back(place), "what ends it must not meet who starts it again"
    state = (await api.get(path))["reproduction"]
    assert (state["ran"], state["cells"]) == (1, 3)
    await api.refused("POST", path, status=409, code="job_running")
    assert (await api.post(f"jobs/{job}/cancel"))["status"] == "cancelled"
    assert (await api.get(path))["reproduction"] is None
    await api.refused("POST", f"jobs/{job}/resume", status=409)
    assert place.app.kernel_manager.list_kernel_ids() == [place.kernel_id]
    assert (await api.get(f"context/{context}/messages"))["items"] == []
    assert [(one["ran"], one["cells"]) for one in await notices(api, context)] == [(1, 3)]


async def test_it_ends_with_its_conversation(
    place: Place, api: Api, jp_root_dir: Path, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    sleeps = f"open({str(begun)!r}, 'w').close()\nimport time\ntime.sleep(1000)"
    write_notebook(jp_root_dir / NOTEBOOK, sleeps)
    context = await api.new_context(notebook=NOTEBOOK)
    await api.post(f"context/{context}/reproduce", status=202)
    await until(begun.exists)
    await api.delete(f"context/{context}")
    assert place.app.kernel_manager.list_kernel_ids() == [place.kernel_id]


@pytest.mark.usefixtures("connected")
async def test_it_does_not_begin_while_the_agent_works_or_without_a_notebook(
    place: Place, api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context(notebook=NOTEBOOK)
    scripted.add(stall())
    sent = await api.post(f"context/{context}/messages", {"content": "Go"}, status=202)
    path = f"context/{context}/reproduce"
    await api.refused("POST", path, status=409, code="job_running")
    await api.post(f"jobs/{sent['job_id']}/cancel")
    other = await api.new_context()
    await api.refused("POST", f"context/{other}/reproduce", status=422, code="no_notebook")
    foreign = {"job_id": sent["job_id"]}
    notebook = await api.new_context(notebook=NOTEBOOK)
    await api.refused("POST", f"context/{notebook}/reproduce", foreign, status=422)
    gone = await api.new_context(notebook="gone.ipynb")
    await api.refused("POST", f"context/{gone}/reproduce", status=404)
    assert (await api.get(path))["reproduction"] is None
