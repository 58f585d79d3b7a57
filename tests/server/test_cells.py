"""Cells in a notebook of a real Jupyter server: the run lives there, the kernel stays free."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient

from tests.scripted import Scripted, ScriptedServer, call, plan, stall, text
from tests.unit.hosts.kernel.kernels import Cells, wait_until_ready

from .live import LiveServer
from .live_page import live_page
from .shared_server import CLIENT, get
from .shared_server import model as model
from .shared_server import scripted as scripted
from .shared_server import server as server
from .shared_server import shared as shared

STEP = {"action": "Write a.txt", "files": ["a.txt"], "tools_needed": ["create_file"]}
Open = Callable[..., Cells]
NOTEBOOK = "sub/sales.ipynb"


@pytest.fixture
def open_notebook(server: LiveServer) -> Iterator[Open]:
    """Opens the notebook with a kernel of its own, as Lab does."""
    with ExitStack() as stack:

        def start(path: str = NOTEBOOK, *, load: bool = True) -> Cells:
            wanted = {
                "path": path,
                "name": Path(path).name,
                "type": "notebook",
                "kernel": {"name": "python3"},
            }
            session = CLIENT.post(f"{server.url}api/sessions", json=wanted).json()
            kernel = session["kernel"]["id"]
            file = server.folder / "RUNTIME" / f"kernel-{kernel}.json"
            client = BlockingKernelClient(connection_file=str(file))
            client.load_connection_file()
            client.start_channels()
            stack.callback(client.stop_channels)
            wait_until_ready(client)
            cells = Cells(client, attended=True, manager=kernel)
            assert not load or cells.run("%load_ext cowork_jupyter").status == "ok"
            return cells

        yield start


def restart(server: LiveServer, cells: Cells) -> None:
    answer = CLIENT.post(f"{server.url}api/kernels/{cells.manager}/restart")
    assert answer.status_code == 200
    wait_until_ready(cells.client)
    assert cells.run("%load_ext cowork_jupyter").status == "ok"


def chats(scripted: ScriptedServer) -> int:
    return sum("chat" in one.path for one in scripted.requests)


def test_a_cell_returns_at_once_and_the_run_goes_on_in_the_server(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    cells = open_notebook()
    shown = cells.run("%%plan\nThink long", "c1")
    assert shown.status == "ok"
    assert shown.card["snapshot"]["status"] == "running"
    assert shown.card["host"] == "server"
    assert cells.run("1 + 1").text == "2"
    context = get(server, f"context/{shown.card['context_id']}")
    assert context["notebook"] == "sub/sales.ipynb"
    (said,) = get(server, f"context/{context['id']}/messages")["items"]
    assert said["data"] == {"cell_id": "c1"}
    busy = cells.run("%%plan\nSomething else", "c2")
    assert busy.status == "ok", "which would end Run All"
    link = "[Another cell](sales.ipynb#cell-id=c1)"
    assert f"**Nothing was sent.** {link} is still working on: Think long" in busy.markdown
    assert "`%cowork cancel` stops what runs" in busy.markdown
    assert "Stopped." in cells.run("%cowork cancel").markdown
    job = get(server, f"jobs/{shown.card['job_id']}")
    assert job["status"] == "cancelled"


def test_the_same_cell_run_again_offers_and_sends_nothing(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(plan("Write a", STEP))
    cells = open_notebook()
    first = cells.run("%%plan --wait\nWrite a file", "c1")
    assert first.card["snapshot"]["status"] == "completed"
    again = cells.run("%%plan\nWrite a file", "c1")
    assert again.card["job_id"] == first.card["job_id"]
    assert again.card["again"] == {
        "content": "Write a file",
        "role": "planner",
        "notebook": "sub/sales.ipynb",
    }
    assert "This cell has already run" in again.markdown
    assert chats(scripted) == 1

    restart(server, cells)
    after = cells.run("%%plan\nWrite a file", "c1")
    assert after.card["job_id"] == first.card["job_id"]
    assert chats(scripted) == 1

    scripted.add(text("Done."))
    acted = cells.run("%%act --wait\nWrite a file", "c2")
    assert acted.card["context_id"] == first.card["context_id"]
    assert acted.card["job_id"] != first.card["job_id"]


@pytest.mark.slow
def test_another_cell_with_the_same_text_is_another_request(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(text("One."), text("Two."), text("Three."))
    cells = open_notebook()
    jobs = {cells.run("%%plan --wait\nLook", cell).card["job_id"] for cell in ("c1", "c2")}
    restart(server, cells)
    jobs.add(cells.run("%%plan --wait\nLook", "c3").card["job_id"])
    assert len(jobs) == 3
    assert chats(scripted) == 3


@pytest.mark.slow
def test_where_cells_have_no_ids_the_same_text_is_sent_again(
    open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(text("One."), text("Two."))
    cells = open_notebook()
    jobs = {cells.run("%%plan --wait\nLook").card["job_id"] for _ in range(2)}
    assert len(jobs) == 2


def test_an_empty_cell_executes_the_plan_once(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(plan("Write a", STEP))
    scripted.add(call("create_file", path="a.txt", content="a\n"), text("Written."))
    cells = open_notebook()
    cells.run("%%plan --wait\nWrite a file", "c1")
    with live_page(server, NOTEBOOK) as person:
        done = person.run(cells, "%%act --wait", "c2")
    assert done.card["snapshot"]["status"] == "completed"
    assert (server.root / "a.txt").read_text() == "a\n"
    again = cells.run("%%act", "c2")
    job = get(server, f"jobs/{done.card['job_id']}")
    assert again.card["job_id"] == job["id"]
    assert again.card["again"] == {"plan_id": job["plan_id"], "revision": 1}
    audit = cells.run("from cowork_jupyter import Cowork\nCowork().audit()")
    assert "| ✓ 1 | Write a.txt |" in audit.markdown


def test_instructions_are_written_for_a_person_only(
    server: LiveServer, open_notebook: Open
) -> None:
    file = server.root / "AGENTS.md"
    cells = open_notebook()
    refused = cells.run("%cowork init", "c1")
    assert "Code cannot do this. Run the magic in a cell yourself" in refused.error
    with live_page(server, NOTEBOOK) as person:
        person.run(cells, "%cowork init --show", "c2")
        assert not file.exists()
        made = person.run(cells, "%cowork init", "c3")
    assert made.status == "ok"
    assert "`AGENTS.md` is written" in made.markdown
    assert file.read_text().startswith("# About this workspace")
    (item,) = get(server, "instructions")["items"]
    assert item["trusted"]


def test_an_interrupt_ends_the_waiting_not_the_run(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    cells = open_notebook()
    process = int(cells.run("import os; os.getpid()").text)
    interrupted: list[int] = []

    def interrupt(shown: Any) -> None:
        if shown.outputs and not interrupted:
            interrupted.append(process)
            os.kill(process, signal.SIGINT)

    shown = cells.run("%%plan --wait\nThink", "c1", on_output=interrupt)
    assert len(shown.traceback) == 1
    assert "the run continues" in shown.error
    job = get(server, f"jobs/{shown.card['job_id']}")
    assert job["status"] == "running"


def test_what_an_agent_could_not_insert_is_inserted_by_the_kernels_reply(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    unseen = "sub/unseen.ipynb"  # the server knows that a page of ours has had the other one
    path = server.root / unseen
    path.write_text(json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    before = path.read_bytes()
    rule = {"effect": "allow", "rule": "insert_cell", "scope": "global"}
    CLIENT.post(f"{server.api}rules", json=rule)
    scripted.add(
        call("insert_cell", path=unseen, source="x = 1"),
        call("insert_cell", path=unseen, source="# Two", cell_type="markdown"),
        text("They are for you to insert."),
    )
    cells = open_notebook(unseen)
    shown = cells.run("%%act\nAdd two cells", "c1")
    job = get(server, f"jobs/{shown.card['job_id']}")
    asked = answer_first_question(server, shown.card["context_id"], "leave")
    assert asked["question"] == f"{unseen} is open in another program. Write the file anyway?"
    while get(server, f"jobs/{job['id']}")["status"] in ("running", "waiting"):
        time.sleep(0.05)
    assert path.read_bytes() == before

    wanted = [("x = 1", "1 more: run this again."), ("%%markdown\n# Two", "The cell is below.")]
    for source, words in wanted:
        inserted = cells.run("%cowork insert", "c2")
        assert words in inserted.markdown
        (asked_for,) = inserted.payload
        assert (asked_for["source"], asked_for["text"]) == ("set_next_input", source)
        assert asked_for["replace"] is False
    assert "This conversation has no cell waiting" in cells.run("%cowork insert", "c2").error


def answer_first_question(server: LiveServer, context: str, value: str) -> dict[str, Any]:
    while not (items := get(server, f"context/{context}/questions")["items"]):
        time.sleep(0.05)
    question: dict[str, Any] = items[0]
    address = f"{server.api}questions/{question['id']}/answer"
    answer = CLIENT.post(address, json={"value": value})
    assert answer.status_code == 200
    return question


def test_asking_goes_on_with_the_plan_until_it_is_executed(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    cells = open_notebook()
    scripted.add(plan("Write a", STEP), plan("Write a, but better", STEP))
    first = cells.run("%%plan --wait\nWrite a file", "c1").card
    asked = cells.run("%%ask --wait\nDo it better", "c2").card
    assert asked["role"] == "planner"
    (revised,) = get(server, f"context/{first['context_id']}/plans")["items"]
    assert (revised["goal"], revised["revision"]) == ("Write a, but better", 2)

    scripted.add(call("create_file", path="a.txt", content="a\n"), text("Written."))
    rule = {"effect": "allow", "rule": "create_file", "scope": "global"}
    CLIENT.post(f"{server.api}rules", json=rule)
    with live_page(server, NOTEBOOK) as person:
        acted = person.run(cells, "%%act --wait", "c3")
    assert acted.card["snapshot"]["status"] == "completed"
    scripted.add(text("You are welcome."), plan("Write b", STEP), text("Looks good."))
    assert cells.run("%%ask --wait\nThanks", "c4").card["role"] == "actor"
    assert cells.run("%%ask planner --wait\nNow b", "c5").card["role"] == "planner"
    assert len(get(server, f"context/{first['context_id']}/plans")["items"]) == 2
    assert cells.run("%%ask reviewer --wait\nLook", "c6").card["role"] == "reviewer"


@pytest.mark.slow
def test_asking_is_answered_by_the_planner_of_a_second_plan(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    cells = open_notebook()
    scripted.add(plan("Write a", STEP), call("create_file", path="a.txt", content="a\n"))
    scripted.add(text("Written."), plan("Write b", STEP), plan("Write b, but better", STEP))
    cells.run("%%plan --wait\nWrite a file", "c1")
    with live_page(server, NOTEBOOK) as person:
        person.run(cells, "%%act --wait", "c2")
        person.run(cells, "%cowork role planner", "c3")
    second = cells.run("%%plan --wait\nWrite another file", "c4").card
    asked = cells.run("from cowork_jupyter import Cowork\nCowork().ask('Do it better')", "c5")
    assert asked.card["role"] == "planner"
    plans = get(server, f"context/{second['context_id']}/plans")["items"]
    assert [(one["goal"], one["revision"]) for one in plans] == [
        ("Write a", 1),
        ("Write b, but better", 2),
    ]


def test_a_cell_says_which_cell_waits_for_an_answer_and_one_that_waits_gets_its_turn(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    saved = [{"id": name, "cell_type": "code", "source": ""} for name in ("c0", "c1", "c2")]
    path = server.root / "sub" / "sales.ipynb"
    path.write_text(json.dumps({"cells": saved, "metadata": {}, "nbformat": 4}))
    asks = {"type": "question", "question": "Which file?", "allow_custom": True}
    scripted.add(text(json.dumps(asks)), text("That one."), text("Second."))
    cells = open_notebook()
    context = cells.run("%%plan\nRead a file", "c1").card["context_id"]
    while not get(server, f"context/{context}/questions")["items"]:
        time.sleep(0.05)
    busy = cells.run("%%act\nSomething else", "c2")
    assert busy.status == "ok"
    link = "[Cell 2](sales.ipynb#cell-id=c1)"
    assert f"**Nothing was sent.** {link} waits for your answer: Which file?" in busy.markdown
    assert len(get(server, f"context/{context}/jobs")["items"]) == 1

    answering = threading.Timer(1, answer_first_question, (server, context, "a"))
    answering.start()
    waited = cells.run("%%act --wait\nSomething else", "c2")
    answering.join()
    assert waited.card["snapshot"]["status"] == "completed"
    assert waited.markdown.endswith("> Second.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (call("execute_command", command="pip install pyarrow"), "pip install pyarrow"),
        (call("create_file", path="a.txt", content="one\ntwo\n"), "`create_file` `a.txt`"),
    ],
)
def test_a_cell_says_what_another_one_asks_permission_for(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer, asked: Scripted, named: str
) -> None:
    scripted.add(asked, text("Done."))
    cells = open_notebook()
    context = cells.run("%%act\nDo it", "c1").card["context_id"]
    while not get(server, f"context/{context}/permissions")["items"]:
        time.sleep(0.05)
    busy = cells.run("%%act\nSomething else", "c2")
    assert f"waits for your permission: {named}\n" in busy.markdown


def test_the_role_is_switched_in_the_notebook(open_notebook: Open) -> None:
    cells = open_notebook()
    shown = cells.run("%cowork role reviewer")
    assert "The role is **Reviewer**." in shown.markdown, "a new conversation has the role it asks"
    shown = cells.run("%cowork role planner")
    assert "The role is now **Planner**." in shown.markdown


@pytest.mark.slow
def test_the_role_is_switched_while_a_run_goes_on_only_if_that_is_confirmed(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    cells = open_notebook()
    running = cells.run("%%plan\nThink long", "c1").card
    refused = cells.run("%cowork role reviewer")
    assert len(refused.traceback) == 1
    assert (
        "switching the role stops it. To do that: %cowork role reviewer --confirm" in refused.error
    )
    assert get(server, f"jobs/{running['job_id']}")["status"] == "running"
    confirmed = cells.run("%cowork role reviewer --confirm")
    assert "The role is now **Reviewer**." in confirmed.markdown
    assert get(server, f"jobs/{running['job_id']}")["status"] == "cancelled"


def test_the_base_prompt_is_chosen_in_a_cell_that_a_person_runs(
    server: LiveServer, open_notebook: Open
) -> None:
    cells = open_notebook()
    assert "| ✓ | `default` | Default | package |" in cells.run("%cowork prompt").markdown
    refused = cells.run("%cowork prompt default", "c1")
    assert "Only you can change the base prompt." in refused.error
    with live_page(server, NOTEBOOK) as person:
        chosen = person.run(cells, "%cowork prompt default", "c2")
        assert "the base prompt is **Default**" in chosen.markdown
        unknown = person.run(cells, "%cowork prompt nothing", "c3")
        assert "there is no base prompt 'nothing'" in unknown.error


def test_a_server_that_is_gone_is_said_in_one_line(open_notebook: Open, server: LiveServer) -> None:
    cells = open_notebook()
    cells.run("import os; os.environ['COWORK_SERVER_URL'] = 'http://127.0.0.1:9/'")
    shown = cells.run("%%plan\nWrite a file")
    assert shown.status == "error"
    assert len(shown.traceback) == 1
    assert shown.traceback[0].startswith("Cowork: The Jupyter server does not answer.")


@pytest.mark.slow
def test_a_server_that_does_not_know_the_kernel_is_said_in_one_line(open_notebook: Open) -> None:
    cells = open_notebook()
    cells.run("import os; os.environ['COWORK_KERNEL_TOKEN'] = 'of yesterday'")
    shown = cells.run("%%plan\nWrite a file")
    assert len(shown.traceback) == 1
    assert "does not know this kernel" in shown.error


@pytest.mark.slow
@pytest.mark.parametrize("what", ["rules", "models"])
def test_lists_are_shown_in_the_notebook(open_notebook: Open, what: str) -> None:
    assert open_notebook().run(f"%cowork {what}").status == "ok"


@pytest.mark.slow
def test_a_checkpoint_that_is_not_there_is_said_in_one_line(open_notebook: Open) -> None:
    shown = open_notebook().run("%cowork rollback cp_1")
    assert len(shown.traceback) == 1
    assert "There is no checkpoint 'cp_1'." in shown.error


@pytest.mark.slow
@pytest.mark.parametrize("section", ["InteractiveShellApp", "IPKernelApp"])
def test_the_magics_are_there_beside_a_users_own_extensions(
    server: LiveServer, open_notebook: Open, scripted: ScriptedServer, section: str
) -> None:
    profile = server.folder / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text(f"c.{section}.extensions = ['storemagic']\n")
    scripted.add(plan("Write a", STEP))
    cells = open_notebook(load=False)
    assert cells.run("%%plan --wait\nWrite a file").card["snapshot"]["status"] == "completed"
    assert "already loaded" in cells.run("%load_ext storemagic").printed
