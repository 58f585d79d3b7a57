"""Only a person approves: what code in a kernel can reach with the kernel's own token.

A real Jupyter server, a real kernel of a notebook, and a page in which a person runs cells.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from jupyter_client.blocking.client import BlockingKernelClient

from cowork_jupyter.hosts.server.handler import KERNEL_TOKEN_HEADER
from cowork_jupyter.hosts.server.kernel_tokens import TOKEN_VARIABLE
from tests.scripted import Scripted, ScriptedServer, call, plan, text
from tests.server.live import TOKEN, LiveServer, live_server
from tests.server.live_page import LivePage, live_page
from tests.server.notebook_kernel import write_notebook
from tests.unit.hosts.kernel.kernels import Cells, wait_until_ready

AWAITS = {"waiting": "approval"}
STEP = {"action": "Look around", "tools_needed": ["list_directory"], "files": []}
FORGED = """
import json, os, urllib.request
request = urllib.request.Request(
    os.environ["COWORK_SERVER_URL"] + "cowork/context/{context}/plan/execute",
    data=json.dumps({{"revision": 1, "cell_id": "act"}}).encode(),
    headers={{"X-Cowork-Kernel-Token": os.environ["COWORK_KERNEL_TOKEN"]}},
)
print(urllib.request.urlopen(request).read().decode())
"""


def answer(body: dict[str, Any]) -> Scripted:
    """A planner plans; an actor runs the code it is told to, once; all others are content."""
    system, said = body["messages"][0]["content"], body["messages"]
    if "PLANNER role" in system:
        return plan("Look around", STEP)
    words = str(said[-1]["content"])
    _, asked, code = words.rpartition("Run: ")
    if asked:
        return call("run_code", code=json.loads(code.splitlines()[0]))
    return text("Done.")


@dataclass
class Notebook:
    """One with a kernel, whose token the code in it has."""

    path: str
    cells: Cells
    user: httpx.Client
    kernel: httpx.Client
    server: LiveServer

    def planned(self, notebook: str | None = None, title: str = "") -> str:
        """A conversation with a plan that waits for approval: this notebook's, unless named."""
        about = {"notebook": notebook or self.path, "title": title, "role": "planner"}
        context = str(self.user.post("context", json=about).json()["id"])
        self.plan(context)
        return context

    def plan(self, context: str) -> None:
        body = {"content": "Look", "role": "planner"}
        job = self.user.post(f"context/{context}/messages", json=body).json()["job_id"]
        wait(lambda: self.user.get(f"jobs/{job}").json()["status"] == "completed")

    def execute(self, context: str, cell_id: str | None = "act", **more: Any) -> dict[str, Any]:
        body = {"revision": 1, "cell_id": cell_id, **more}
        sent = self.kernel.post(f"context/{context}/plan/execute", json=body)
        assert sent.status_code == 202, sent.text
        accepted: dict[str, Any] = sent.json()
        if "job_id" in accepted:
            address = f"jobs/{accepted['job_id']}"
            wait(lambda: self.user.get(address).json()["status"] == "completed")
        return accepted

    def ended(self, job_id: str) -> dict[str, Any]:
        def over() -> dict[str, Any] | None:
            job: dict[str, Any] = self.user.get(f"jobs/{job_id}").json()
            return None if job["status"] in ("running", "waiting") else job

        job: dict[str, Any] = wait(over)
        return job

    def asks(self, context: str, body: dict[str, Any]) -> dict[str, Any]:
        """The job of a message that the kernel sends, once it is over."""
        sent = self.kernel.post(f"context/{context}/messages", json=body)
        assert sent.status_code == 202, sent.text
        return self.ended(sent.json()["job_id"])

    def executions(self, context: str) -> list[dict[str, Any]]:
        jobs = self.user.get(f"context/{context}/jobs").json()["items"]
        return [job for job in jobs if job["kind"] == "plan"]

    def role(self, context: str) -> str:
        return str(self.user.get(f"context/{context}").json()["role"])

    def is_pending(self, context: str) -> bool:
        """Whether nothing came of it: no run, no rights."""
        return not self.executions(context) and self.role(context) == "planner"


def wait(ask: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + 60
    while not (found := ask()):
        assert time.monotonic() < give_up
        time.sleep(0.02)
    return found


@dataclass
class Site:
    """A running server and its user."""

    server: LiveServer
    user: httpx.Client
    root: Path
    runtime: Path

    @contextmanager
    def notebook(self) -> Iterator[Notebook]:
        path = f"{secrets.token_hex(6)}.ipynb"
        write_notebook(self.root / path)
        wanted = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        session = self.user.post(f"{self.server.url}api/sessions", json=wanted).json()
        file = self.runtime / f"kernel-{session['kernel']['id']}.json"
        client = BlockingKernelClient(connection_file=str(file))
        client.load_connection_file()
        client.start_channels()
        try:
            wait_until_ready(client)
            cells = Cells(client)
            token = cells.run(f"import os; print(os.environ[{TOKEN_VARIABLE!r}], end='')").printed
            headers = {KERNEL_TOKEN_HEADER: token}
            with httpx.Client(base_url=self.server.api, headers=headers, timeout=60) as kernel:
                yield Notebook(path, cells, self.user, kernel, self.server)
        finally:
            client.stop_channels()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("person")
    with ScriptedServer(answer) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        headers = {"Authorization": f"token {TOKEN}"}
        with (
            live_server(folder, environment=environment) as server,
            httpx.Client(base_url=server.api, headers=headers, timeout=60) as user,
        ):
            yield Site(server, user, folder / "root", folder / "RUNTIME")


@pytest.fixture(scope="module")
def notebook(site: Site) -> Iterator[Notebook]:
    with site.notebook() as opened:
        yield opened


@pytest.fixture
def person(notebook: Notebook) -> Iterator[LivePage]:
    with live_page(notebook.server, notebook.path) as page:
        yield page


# What nobody vouches for


def test_code_that_executes_a_pending_plan(notebook: Notebook) -> None:
    context = notebook.planned()
    for cell_id in (None, "act"):
        assert notebook.execute(context, cell_id) == AWAITS
    assert notebook.is_pending(context)


def test_code_that_executes_the_plan_of_another_conversation(
    notebook: Notebook, person: LivePage
) -> None:
    contexts = [notebook.planned("other.ipynb"), notebook.planned(title="other")]
    person.start("act", "%%act")
    for context in contexts:
        assert notebook.execute(context) == AWAITS
        assert notebook.is_pending(context)


def test_a_cell_without_a_person_shows_the_plan_and_waits(notebook: Notebook) -> None:
    context = notebook.planned()
    notebook.cells.run("%load_ext cowork_jupyter")
    for source in ("%%act", "%%act --wait", "%cowork execute"):
        shown = notebook.cells.run(source, "act")
        assert shown.status == "ok", shown.error
        assert "Click **Execute plan** on the card in JupyterLab" in shown.markdown
        assert shown.card["context_id"] == context
    assert "plan ready" in shown.markdown
    script = "run = __import__('cowork_jupyter').Cowork().execute()\nprint(run.status, run.ok)"
    assert "waiting False" in notebook.cells.run(script, "act").printed
    assert notebook.is_pending(context)


def test_code_that_gives_the_agent_more_rights(notebook: Notebook) -> None:
    context = notebook.planned()
    for address, body in (("role", {"role": "actor"}), ("mode", {"mode": "act"})):
        sent = notebook.kernel.post(f"context/{context}/{address}", json={**body, "cell_id": "r"})
        assert sent.status_code == 403
        assert sent.json()["error"]["code"] == "needs_person"
        assert "Switch to Actor in JupyterLab" in sent.json()["error"]["message"]
    refused = notebook.cells.run("%cowork role actor", "r")
    assert "Only you can give the agent more permissions" in refused.error
    assert notebook.role(context) == "planner"


def test_code_that_sends_a_message_in_a_role_with_more_rights(
    notebook: Notebook, person: LivePage
) -> None:
    """Even in a conversation that it made itself, as a page shows its notebook."""
    about = {"notebook": notebook.path, "role": "planner"}
    own = str(notebook.kernel.post("context", json=about).json()["id"])
    unnamed = str(notebook.kernel.post("context", json={"role": "planner"}).json()["id"])
    person.start("c", "%%ask\nHello")
    for context in (notebook.planned(), own, unnamed):
        for fields in ({"cell_id": "c"}, {"cell_id": "other"}, {}):
            body = {"content": "Hello", "role": "actor", **fields}
            sent = notebook.kernel.post(f"context/{context}/messages", json=body)
            assert sent.status_code == 403
            assert sent.json()["error"]["code"] == "role_raise"
        assert notebook.role(context) == "planner"
        change = notebook.kernel.post(f"context/{context}/role", json={"role": "actor"})
        assert change.status_code == 403


def test_code_that_no_page_shows_raises_its_own_conversations_role_for_one_message(
    notebook: Notebook,
) -> None:
    about = {"notebook": notebook.path, "role": "planner"}
    own = str(notebook.kernel.post("context", json=about).json()["id"])
    body = {"content": "Hello", "role": "actor"}
    assert notebook.asks(own, body)["role"] == "actor"
    assert notebook.role(own) == "planner"
    context = notebook.planned()
    assert notebook.kernel.post(f"context/{context}/messages", json=body).status_code == 403


@pytest.mark.parametrize(
    "source", ["%%act\nHello", "%%ask actor\nHello", "cw.ask('Hello', role='actor')"]
)
def test_a_cell_that_a_person_runs_raises_the_role_for_its_message(
    notebook: Notebook, person: LivePage, source: str
) -> None:
    context = notebook.planned()
    person.start("c", source)
    body = {"content": "Hello", "role": "actor", "cell_id": "c"}
    job = notebook.asks(context, body)
    assert (job["role"], job["by"]) == ("actor", "person")
    assert notebook.role(context) == "planner"
    again = notebook.kernel.post(f"context/{context}/messages", json=body)
    assert again.status_code == 403, "it counts once"


def test_a_workflow_with_more_rights_runs_for_a_cell_of_a_person(
    notebook: Notebook, person: LivePage
) -> None:
    context = notebook.planned()
    body = {"context_id": context, "parameters": {"path": "a.csv"}, "cell_id": "c"}
    address = "workflows/profile_dataset/run"
    refused = notebook.kernel.post(address, json=body)
    assert refused.json()["error"]["code"] == "role_raise"
    person.start("c", "%cowork run profile_dataset path=a.csv")
    started = notebook.kernel.post(address, json=body)
    assert started.status_code == 202, started.text
    assert notebook.ended(started.json()["job_id"])["role"] == "tester"
    assert notebook.role(context) == "planner"


def test_code_that_takes_rights_away(notebook: Notebook) -> None:
    context = str(notebook.user.post("context", json={"role": "actor"}).json()["id"])
    sent = notebook.kernel.post(f"context/{context}/role", json={"role": "reviewer"})
    assert sent.status_code == 200
    assert notebook.role(context) == "reviewer"
    (change,) = notebook.user.get(f"context/{context}/messages").json()["items"]
    assert change["data"] == {"from": "actor", "to": "reviewer", "by": "kernel"}


# What a person ran, and what code makes of it


@pytest.mark.parametrize(
    ("title", "source"),
    [
        ("", "%%act"),
        ("", "%cowork execute"),
        ("", "cw.execute()"),
        ("other", "%%act -c other"),
        ("other", "%cowork -c other execute"),
        ("other", "Cowork('other').execute()"),
    ],
)
def test_a_person_who_runs_the_cell(
    notebook: Notebook, person: LivePage, title: str, source: str
) -> None:
    context = notebook.planned(title=title)
    person.start("act", source)
    assert "job_id" in notebook.execute(context)
    (job,) = notebook.executions(context)
    assert (job["by"], job["cell_id"]) == ("person", "act")
    said = notebook.user.get(f"context/{context}/messages").json()["items"]
    (approval,) = [one["data"] for one in said if "approved_revision" in one["data"]]
    assert approval["by"] == "person"


def test_a_cell_that_is_used_a_second_time(notebook: Notebook, person: LivePage) -> None:
    context = notebook.planned()
    person.start("act", "%%act")
    notebook.execute(context)
    notebook.plan(context)
    assert notebook.execute(context) == AWAITS
    assert len(notebook.executions(context)) == 1


@pytest.mark.parametrize(
    "source",
    ["%%act\nSomething else", "%%plan", "%cowork plan", "print('%%act')", "%%act -c other", "x"],
)
def test_a_cell_that_asks_for_something_else(
    notebook: Notebook, person: LivePage, source: str
) -> None:
    context = notebook.planned()
    person.start("act", source)
    assert notebook.execute(context) == AWAITS
    assert notebook.is_pending(context)


def test_a_cell_that_has_ended_or_is_another(notebook: Notebook, person: LivePage) -> None:
    context = notebook.planned()
    person.start("act", "%%act")
    assert notebook.execute(context, "other") == AWAITS
    person.end("act")
    assert notebook.execute(context) == AWAITS
    person.start("act", "%%act")
    person.end()
    assert notebook.execute(context) == AWAITS
    assert notebook.is_pending(context)


def test_a_page_that_is_gone(notebook: Notebook) -> None:
    context = notebook.planned()
    with live_page(notebook.server, notebook.path) as person:
        person.start("act", "%%act")
    assert notebook.execute(context) == AWAITS
    assert notebook.is_pending(context)


def test_the_kernel_of_another_notebook(site: Site, notebook: Notebook, person: LivePage) -> None:
    context = notebook.planned()
    person.start("act", "%%act")
    with site.notebook() as thief:
        assert thief.execute(context) == AWAITS
    assert notebook.is_pending(context)


def test_an_older_plan_than_the_current_one(notebook: Notebook, person: LivePage) -> None:
    context = notebook.planned()
    notebook.plan(context)
    first, second = notebook.user.get(f"context/{context}/plans").json()["items"]
    person.start("act", "%%act")
    assert notebook.execute(context, plan_id=first["id"]) == AWAITS
    assert notebook.is_pending(context)
    assert "job_id" in notebook.execute(context, plan_id=second["id"])


def test_code_of_an_agent_that_runs_at_the_time(notebook: Notebook, person: LivePage) -> None:
    """It knows the cell that a person has just run, which waits behind it."""
    rule = {"effect": "allow", "rule": "run_code", "scope": "session"}
    notebook.user.post("rules", json=rule).raise_for_status()
    context = notebook.planned()
    about = {"notebook": notebook.path, "title": "elsewhere"}
    other = notebook.user.post("context", json=about).json()["id"]
    person.start("act", "%%act")
    words = f"Run: {json.dumps(FORGED.format(context=context))}"
    sent = notebook.user.post(f"context/{other}/messages", json={"content": words}).json()
    wait(lambda: notebook.user.get(f"jobs/{sent['job_id']}").json()["status"] == "completed")
    said = notebook.user.get(f"context/{other}/messages").json()["items"]
    (result,) = [one for one in said if one["message_type"] == "tool_result"]
    assert json.dumps(AWAITS) in result["content"][0]["text"]
    assert notebook.is_pending(context)
    assert "job_id" in notebook.execute(context), "what the person ran still counts"


def test_a_person_who_switches_the_role(notebook: Notebook, person: LivePage) -> None:
    context = notebook.planned()
    person.start("r", "%cowork role tester")
    body = {"role": "actor", "cell_id": "r"}
    assert notebook.kernel.post(f"context/{context}/role", json=body).status_code == 403
    body["role"] = "tester"
    assert notebook.kernel.post(f"context/{context}/role", json=body).status_code == 200
    change = notebook.user.get(f"context/{context}/messages").json()["items"][-1]
    assert change["data"] == {"from": "planner", "to": "tester"}


def test_who_said_something(notebook: Notebook, person: LivePage) -> None:
    """A person who ran the cell with these words, or only code."""
    context = notebook.user.post("context", json={"notebook": notebook.path}).json()["id"]
    person.start("c1", "%%ask\nHello there\n")
    for words, cell_id in (("Hello there", "c1"), ("Hello there", "c1"), ("Hello", None)):
        body = {"content": words, "cell_id": cell_id}
        job = notebook.kernel.post(f"context/{context}/messages", json=body).json()["job_id"]
        wait(lambda: notebook.user.get(f"jobs/{job}").json()["status"] == "completed")  # noqa: B023
    jobs = notebook.user.get(f"context/{context}/jobs").json()["items"]
    assert [job["by"] for job in jobs] == ["person", "kernel", "kernel"]


# Plans that are kept


def test_a_cell_that_a_person_runs_saves_changes_and_deletes_a_workflow(
    notebook: Notebook, person: LivePage
) -> None:
    context = notebook.planned()
    saves = {"name": "look", "context_id": context, "cell_id": "c"}
    person.start("c", "%cowork save other")
    assert notebook.kernel.post("workflows", json=saves).status_code == 403
    notebook.cells.run("%load_ext cowork_jupyter")
    assert "**Saved.**" in person.run(notebook.cells, "%cowork save look", "c").markdown
    assert notebook.kernel.post("workflows", json={**saves, "replace": True}).status_code == 403

    person.start("c", "%cowork workflows share look")
    assert notebook.kernel.delete("workflows/look?cell_id=c").status_code == 403
    shown = person.run(notebook.cells, "%cowork workflows edit look title=Look", "c")
    assert "Changed `look`." in shown.markdown
    assert "Deleted" in person.run(notebook.cells, "%cowork workflows delete look", "c").markdown


def test_a_cell_that_a_person_runs_restores_a_revision(
    notebook: Notebook, person: LivePage
) -> None:
    context = notebook.planned()
    plan = notebook.user.get(f"context/{context}/plan").json()["plan"]
    edited = {"plan": {**plan, "goal": "Look twice"}, "revision": 1}
    notebook.user.put(f"context/{context}/plan", json=edited)
    address, body = f"context/{context}/plan/restore", {"revision": 1, "cell_id": "c"}
    assert notebook.kernel.post(address, json=body).status_code == 403
    person.start("c", "%cowork plan --restore 1")
    assert notebook.kernel.post(address, json={**body, "revision": 2}).status_code == 403
    assert notebook.kernel.post(address, json=body).json()["revision"] == 3
    assert notebook.kernel.post(address, json=body).status_code == 403
    assert notebook.user.get(f"context/{context}/plan").json()["plan"]["goal"] == "Look around"
