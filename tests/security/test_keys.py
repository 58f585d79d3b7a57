"""A key that the user's code prints stays where it was printed: not in our files, not at the model.

A real server, a real kernel and a model that wants the key; then every file is looked at.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.scripted import ScriptedServer, call, text
from tests.server.live import TOKEN, live_server
from tests.server.notebook_kernel import NOTEBOOK, write_notebook

KEY = "sk-the-users-own-0123456789"
CELL = "import os; print('the key is', os.environ['OPENAI_API_KEY'])"
IN_PIECES = (
    "import os, sys, time\nfor sign in os.environ['OPENAI_API_KEY']:\n"
    "    print(sign, end='', flush=True)\n    time.sleep(0.15)"
)
IN_AN_ERROR = "import os; raise ValueError(os.environ['OPENAI_API_KEY'])"
ENCODED = "import base64, os; base64.b64encode(os.environ['OPENAI_API_KEY'].encode())"
PATIENCE = 180


@dataclass
class Desk:
    """A user who approves whatever is asked."""

    client: httpx.Client
    model: ScriptedServer
    folder: Path

    def tell(self, words: str) -> str:
        """Send a message and say yes to all that follows; the conversation's id."""
        made = {"role": "actor", "notebook": NOTEBOOK}
        context = self.client.post("context", json=made).json()["id"]
        sent = self.client.post(f"context/{context}/messages", json={"content": words}).json()
        wait_for(lambda: self._is_over(context, sent["job_id"]))
        return str(context)

    def _is_over(self, context: str, job_id: str) -> bool:
        for one in self.client.get(f"context/{context}/permissions").json()["items"]:
            self.client.post(f"permissions/{one['id']}", json={"decision": "allow"})
        status: str = self.client.get(f"jobs/{job_id}").json()["status"]
        assert status != "failed", self.client.get(f"context/{context}/messages").text
        return status == "completed"


def wait_for(so: Callable[[], bool]) -> None:
    patience = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < patience
        time.sleep(0.05)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    (folder / "root").mkdir()
    with ScriptedServer() as model:
        environment = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": KEY}
        with live_server(folder, "--Cowork.model=scripted", environment=environment) as server:
            headers = {"Authorization": f"token {TOKEN}"}
            with httpx.Client(base_url=server.api, headers=headers, timeout=PATIENCE) as client:
                yield Desk(client, model, folder)
    # The server has ended, and has written all that it had to write.
    assert list(files_with(folder, KEY)) == []


@pytest.fixture
def desk(shared: Desk) -> Iterator[Desk]:
    write_notebook(shared.folder / "root" / NOTEBOOK, CELL)
    shared.model.requests.clear()
    yield shared
    assert list(files_with(shared.folder, KEY)) == []
    for one in shared.model.requests:
        assert KEY not in json.dumps(one.body)


def files_with(folder: Path, secret: str) -> Iterator[Path]:
    """Whatever is written anywhere: the database, the notebook, the log.

    Not checkpoints: they keep the user's own files exactly as they were.
    """
    forms = [secret.encode(), base64.b64encode(secret.encode()).rstrip(b"=")]
    for path in folder.rglob("*"):
        ours = path.is_file() and "checkpoints" not in path.parts
        if ours and any(form in path.read_bytes() for form in forms):
            yield path


def sent_last(model: ScriptedServer) -> str:
    return json.dumps(model.requests[-1].body["messages"], ensure_ascii=False)


def test_a_cell_that_prints_the_key(desk: Desk) -> None:
    desk.model.add(call("run_cell", path=NOTEBOOK, cell_id="c0", start_kernel=True), text("Done."))
    context = desk.tell("Run my cell.")
    assert "the key is •••" in sent_last(desk.model)
    notebook = json.loads((desk.folder / "root" / NOTEBOOK).read_text())
    assert "".join(notebook["cells"][0]["outputs"][0]["text"]) == "the key is •••\n"
    for what in ("messages", "events?after=0&timeout=1"):
        answer = str(desk.client.get(f"context/{context}/{what}").json())
        assert "•••" in answer
        assert KEY not in answer


@pytest.mark.parametrize("code", [IN_PIECES, IN_AN_ERROR, ENCODED])
def test_code_that_shows_the_key_in_other_ways(desk: Desk, code: str) -> None:
    desk.model.add(call("run_code", path=NOTEBOOK, code=code, start_kernel=True), text("Done."))
    context = desk.tell("Look around.")
    assert "•••" in sent_last(desk.model)
    events = desk.client.get(f"context/{context}/events?after=0&timeout=1").json()["events"]
    live = (one["data"] for one in events if one["data"].get("code") == "tool_output")
    assert KEY not in "".join(one["text"] for one in live)


def test_a_key_that_the_user_types_or_the_model_repeats(desk: Desk) -> None:
    desk.model.add(text(f"You said {KEY}."))
    desk.tell(f"My key is {KEY}, keep it.")
    assert "My key is •••, keep it." in sent_last(desk.model)


def test_a_file_with_the_key(desk: Desk) -> None:
    file = desk.folder / "root" / "settings.txt"
    file.write_text(f"key = {KEY}\n")
    desk.model.add(call("read_file", path="settings.txt"), text("Done."))
    desk.tell("Read my settings.")
    assert "key = •••" in sent_last(desk.model)
    file.unlink()  # the user's own, and the only place where it may be
