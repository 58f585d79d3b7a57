"""The memory of a workspace over HTTP: shown, proposed, and kept, edited or forgotten by people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.hosts.server.tabs import PersonRuns
from tests.scripted import ScriptedServer, call, text
from tests.scripted.server import last_words

from .api import Api
from .test_callers import AsKernel
from .test_callers import as_kernel as as_kernel
from .test_callers import kernels as kernels

pytestmark = pytest.mark.usefixtures("connected")

FILE = Path(".cowork/memory.md")
CODE = "import pandas as pd\ntable = pd.read_csv('sales.csv').dropna()\ntable.to_csv('tidy.csv')\n"
WISH = "Write a script that tidies the sales"
CLEANED = "- `sales.csv`: rows with missing values dropped"


@pytest.fixture
def workspace(jp_root_dir: Path) -> Path:
    (jp_root_dir / "sales.csv").write_text("day,item,password\n2026-01-01,Zwiebel,hunter2\n")
    return jp_root_dir


async def taught(api: Api, scripted: ScriptedServer, context: str = "") -> str:
    """A run that was kept; gives the job."""
    scripted.add(call("create_file", path="tidy.py", content=CODE), text("INVENTED BY A MODEL"))
    context = context or await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": WISH}, status=202)
    request = await api.first_request(context)
    await api.post(f"permissions/{request['id']}", {"decision": "allow"})
    assert (await api.ended(sent["job_id"]))["status"] == "completed"
    return str(sent["job_id"])


async def test_what_a_run_taught_is_shown_kept_and_followed(
    api: Api, scripted: ScriptedServer, workspace: Path
) -> None:
    assert (await api.get("memory"))["text"] == ""
    job = await taught(api, scripted)
    shown = await api.get("memory")
    (proposal,) = shown["proposals"]
    assert (proposal["job_id"], proposal["request"]) == (job, WISH)
    assert f"+{CLEANED}" in proposal["diff"]
    assert (await api.get(f"jobs/{job}/memory"))["proposal"] == proposal
    assert not (workspace / FILE).exists(), "nothing is written unasked"

    verdict = {"decision": "keep", "fingerprint": shown["fingerprint"]}
    kept = await api.post(f"jobs/{job}/memory", verdict)
    assert kept["proposals"] == []
    assert kept["trusted"]
    written = (workspace / FILE).read_text()
    assert written.strip() == kept["text"]
    assert CLEANED in written
    assert "- `sales.csv`: columns `day`, `item`, 1 more" in written
    for never in ("Zwiebel", "hunter2", "password", "INVENTED"):
        assert never not in written

    scripted.add(text("It is Monday."))
    context = await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": "Tidy sales"}, status=202)
    await api.ended(sent["job_id"])
    prompt = last_words(scripted.requests[-1].body, "system")
    assert "# What is known about this workspace" in prompt
    assert CLEANED in prompt
    card = (await api.get(f"jobs/{sent['job_id']}/card", whole="true"))["state"]
    assert [(one["kind"], one["name"]) for one in card["guidance"]] == [("memory", str(FILE))]


async def test_what_is_dropped_or_edited_before_it_is_kept(
    api: Api, scripted: ScriptedServer, workspace: Path
) -> None:
    job = await taught(api, scripted)
    assert (await api.post(f"jobs/{job}/memory", {"decision": "drop"}))["proposals"] == []
    assert not (workspace / FILE).exists()
    proposal = (await api.get(f"jobs/{job}/memory"))["proposal"]
    mine = "# Mine\n\n- Sales are in euros"
    verdict = {"decision": "keep", "fingerprint": proposal["fingerprint"], "text": mine}
    assert (await api.post(f"jobs/{job}/memory", verdict))["text"] == mine


async def test_a_file_that_changed_meanwhile_is_not_overwritten(
    api: Api, scripted: ScriptedServer, workspace: Path
) -> None:
    job = await taught(api, scripted)
    shown = await api.get("memory")
    (workspace / FILE).parent.mkdir(exist_ok=True)
    (workspace / FILE).write_text("- from elsewhere\n")
    verdict = {"decision": "keep", "fingerprint": shown["fingerprint"]}
    edit = {"text": "mine", "fingerprint": shown["fingerprint"]}
    await api.refused("POST", f"jobs/{job}/memory", verdict, status=409, code="changed_since_shown")
    await api.refused("PUT", "memory", edit, status=409, code="changed_since_shown")
    shown = await api.get("memory")
    assert (shown["text"], shown["trusted"]) == ("- from elsewhere", False)
    trust = await api.get("trust")
    assert [(one["kind"], one["trusted"]) for one in trust["items"]] == [("memory", False)]
    verdict["fingerprint"] = shown["fingerprint"]
    await api.refused("POST", f"jobs/{job}/memory", verdict, status=409, code="memory_not_trusted")
    edit["fingerprint"] = shown["fingerprint"]
    assert (await api.call("PUT", "memory", edit))["trusted"]
    assert (workspace / FILE).read_text() == "mine\n"


async def test_it_is_forgotten_in_part_and_whole(api: Api, workspace: Path) -> None:
    empty = (await api.get("memory"))["fingerprint"]
    await api.call("PUT", "memory", {"text": "- one\n- two", "fingerprint": empty})
    assert (await api.call("DELETE", "memory?text=two"))["text"] == "- one"
    assert (await api.call("DELETE", "memory"))["text"] == ""
    assert not (workspace / FILE).exists()


async def test_a_kernel_may_only_read_unless_a_person_ran_its_cell(
    api: Api,
    as_kernel: AsKernel,
    scripted: ScriptedServer,
    workspace: Path,
    jp_serverapp: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (extension,) = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]
    job = await taught(api, scripted, extension.service.conversations.create().id)
    kernel = await as_kernel()
    shown = await kernel.get("memory")
    assert [one["job_id"] for one in shown["proposals"]] == [job]
    verdict = {"decision": "keep", "fingerprint": shown["fingerprint"], "cell_id": "c1"}
    address = f"jobs/{job}/memory"
    await kernel.refused("POST", address, verdict, status=403, code="needs_person")
    await kernel.refused("DELETE", "memory?cell_id=c1", status=403, code="needs_person")
    edit = {"text": "mine", "fingerprint": shown["fingerprint"]}
    await kernel.refused("PUT", "memory", edit, status=403)
    assert not (workspace / FILE).exists()

    runs = PersonRuns()
    runs.begin("n.ipynb", "c1", "%cowork memory --keep\n%cowork memory --forget sales.csv")

    async def notebook_of(_kernel_id: str) -> str:
        return "n.ipynb"

    async def take(_kernel: str, notebook: str, cell_id: str, wanted: Any) -> bool:
        return runs.take(notebook, cell_id, wanted)

    monkeypatch.setattr(extension, "notebook_of", notebook_of)
    monkeypatch.setattr(extension, "take_command", take)
    assert CLEANED in (await kernel.post(address, verdict))["text"]
    await kernel.refused("POST", address, verdict, status=403, code="needs_person")
    await kernel.refused("DELETE", "memory?cell_id=c1", status=403, code="needs_person")
    left = await kernel.call("DELETE", "memory?text=sales.csv&cell_id=c1")
    assert "sales.csv" not in left["text"]


async def test_of_somebody_elses_run_a_kernel_learns_nothing(
    api: Api, as_kernel: AsKernel, scripted: ScriptedServer, workspace: Path
) -> None:
    job = await taught(api, scripted)
    kernel = await as_kernel()
    assert (await kernel.get("memory"))["proposals"] == []
    await kernel.refused("GET", f"jobs/{job}/memory", status=404)
    verdict = {"decision": "drop"}
    await kernel.refused("POST", f"jobs/{job}/memory", verdict, status=404)
    assert len((await api.get("memory"))["proposals"]) == 1
    assert not (workspace / FILE).exists()
