"""What whoever runs the server sees: our lines in its log, and our metrics beside its own."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.metrics import MetricWrapperBase
from tornado.websocket import WebSocketClientConnection

from cowork_jupyter.domain.operations import UNKNOWN_TOOL
from cowork_jupyter.parts.metrics import metrics as module
from cowork_jupyter.parts.metrics.metrics import label_of
from tests.scripted import ScriptedServer, call, text
from tests.scripted.replies import server_error

from .api import PATIENCE, Api
from .live import TOKEN, LiveServer, live_server

SECRETS = {
    "prompt": "zanzibar",
    "path": "quokka",
    "content": "marzipan",
    "command": "gooseberry",
    "tool": "wolpertinger",
    "answer": "dodecahedron",
    "title": "kaleidoscope",
}
KEY = "sk-operators-must-not-see-this-1"
LINE = re.compile(
    r"^\[(?P<level>[A-Z]) [^\]]*\] "
    r"(?P<line>(?:job|model|tool|decision|checkpoint|rollback|mcp) .*)$",
    re.MULTILINE,
)


class Operator:
    """Lets a server work, and reads what it has logged of it."""

    def __init__(self, server: LiveServer, client: httpx.Client) -> None:
        self.server = server
        self._client = client

    def call(self, method: str, address: str, body: Any = None) -> Any:
        answer = self._client.request(method, address, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def new_context(self) -> str:
        made = self.call("POST", "context", {"role": "actor", "title": SECRETS["title"]})
        return str(made["id"])

    def run(self, context: str, words: str) -> str:
        """The id of a job, once it has ended with all requests allowed."""
        sent = self.call("POST", f"context/{context}/messages", {"content": words})
        give_up = time.monotonic() + PATIENCE
        while self.call("GET", f"jobs/{sent['job_id']}")["status"] in ("running", "waiting"):
            assert time.monotonic() < give_up
            waiting = self.call("GET", f"context/{context}/permissions")["items"]
            if waiting:
                ids = [one["id"] for one in waiting]
                self.call("POST", "permissions", {"ids": ids, "decision": "allow"})
            time.sleep(0.02)
        return str(sent["job_id"])

    def lines(self, level: str = "I") -> list[str]:
        """Our lines of that level, in order."""
        found = LINE.finditer(self.server.log)
        return [one["line"] for one in found if one["level"] == level]

    def wait_for(self, beginning: str) -> None:
        give_up = time.monotonic() + PATIENCE
        while not any(line.startswith(beginning) for line in self.lines()):
            assert time.monotonic() < give_up, self.server.log
            time.sleep(0.02)


@contextmanager
def operated(folder: Path, scripted: ScriptedServer, *arguments: str) -> Iterator[Operator]:
    model = {"COWORK_BASE_URL": scripted.base_url, "COWORK_MODEL": "scripted"}
    environment = {**model, "COWORK_API_KEY": KEY}
    with (
        live_server(folder, *arguments, environment=environment) as server,
        httpx.Client(
            base_url=server.api, headers={"Authorization": f"token {TOKEN}"}, timeout=PATIENCE
        ) as client,
    ):
        yield Operator(server, client)


def work(operator: Operator, scripted: ScriptedServer) -> tuple[str, str]:
    """A job that does a bit of everything, and is taken back; its conversation and its id."""
    scripted.add(
        server_error(),
        call("create_file", path=f"{SECRETS['path']}.txt", content=SECRETS["content"]),
        call("execute_command", command=f"echo {SECRETS['command']}"),
        call(SECRETS["tool"], path="x"),
        text(SECRETS["answer"], usage={"prompt_tokens": 70, "completion_tokens": 7}),
    )
    context = operator.new_context()
    job = operator.run(context, SECRETS["prompt"])
    first = operator.call("GET", f"context/{context}/checkpoints")["items"][0]["id"]
    operator.call("POST", f"checkpoints/{first}/rollback", {})
    operator.wait_for("rollback ")
    return context, job


def values(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def test_at_info_there_is_one_line_for_each_operation_and_nothing_that_anybody_wrote(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    with operated(tmp_path, scripted) as operator:
        context, job = work(operator, scripted)
        lines, log = operator.lines(), operator.server.log
    assert lines[0] == f"job {job} started kind=message role=actor context={context}"
    (ended,) = (line for line in lines if line.startswith(f"job {job} ended"))
    assert values(ended)["status"] == "completed"
    assert int(values(ended)["tokens"]) > 0
    assert float(values(ended)["seconds"]) > 0
    heads = Counter(line.split()[0] for line in lines)
    models = [values(line) for line in lines if line.startswith("model called ")]
    assert [(one["status"], one["attempts"]) for one in models] == [("ok", "2"), *[("ok", "1")] * 3]
    assert (models[-1]["prompt_tokens"], models[-1]["completion_tokens"]) == ("70", "7")
    assert "prompt_tokens" not in models[0], "what is not known is not said"
    assert all(one["model"] == "scripted" and one["job"] == job for one in models)
    tools = [values(line) for line in lines if line.startswith("tool ")]
    assert [(one["tool"], one["status"]) for one in tools] == [
        ("create_file", "ok"),
        ("execute_command", "ok"),
        (UNKNOWN_TOOL, "unknown_tool"),
    ]
    decisions = [line for line in lines if line.startswith("decision ")]
    decided = [
        (line.split()[2], values(line)["tool"], values(line)["reason"]) for line in decisions
    ]
    assert decided[:2] == [
        ("ask", "create_file", "not_allowed_yet"),
        ("allow", "create_file", "user"),
    ]
    assert heads["rollback"] == 1
    assert {"files", "bytes", "seconds"} <= values(
        next(line for line in lines if line.startswith("checkpoint "))
    ).keys()
    ids = [" ".join(line.split()[:3]) for line in lines if not line.startswith("model ")]
    assert len(ids) == len(set(ids)), "a line is there twice"
    assert not [secret for secret in (*SECRETS.values(), KEY) if secret in log]
    assert not operator.lines("D")


@pytest.mark.slow
def test_with_debug_it_says_why_an_attempt_failed_and_still_no_key(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    with operated(tmp_path, scripted, "--debug") as operator:
        work(operator, scripted)
        debug, log = operator.lines("D"), operator.server.log
    assert [line for line in debug if line.startswith("model attempt=1 failed error=ModelError")]
    assert [line for line in debug if "parts=not_allowed_yet:ask" in line]
    assert KEY not in log


@pytest.mark.usefixtures("connected")
async def test_our_log_is_the_servers_as_long_as_it_runs(api: Api, jp_serverapp: Any) -> None:
    ours = logging.getLogger("cowork_jupyter")
    assert ours.parent is jp_serverapp.log
    await api.get("health")
    extension = next(iter(jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]))
    await extension.stop_extension()
    assert ours.parent is logging.getLogger()


async def metrics(api: Api) -> dict[str, float]:
    answer = await api._client.fetch(f"{api._base_url}metrics", headers=api._headers)
    lines = (line.rsplit(" ", 1) for line in answer.body.decode().splitlines())
    return {name: float(value) for name, value in lines if name.startswith("cowork_")}


@pytest.mark.usefixtures("connected")
async def test_metrics_count_jobs_calls_decisions_and_what_waits(
    api: Api, scripted: ScriptedServer
) -> None:
    await api.get("health")
    before = await metrics(api)
    scripted.add(
        call("create_file", path=f"{SECRETS['path']}.txt", content="a"),
        call(SECRETS["tool"], path="x"),
        text(SECRETS["answer"], usage={"prompt_tokens": 70, "completion_tokens": 7}),
    )
    context = await api.new_context(role="actor")
    sent = await api.post(f"context/{context}/messages", {"content": "Go."}, status=202)
    request = await api.first_request(context)
    waiting = await metrics(api)
    assert waiting["cowork_jobs_running"] == 1
    assert waiting['cowork_waiting{kind="permission"}'] == 1
    await api.post("permissions", {"ids": [request["id"]], "decision": "allow"})
    await api.ended(sent["job_id"])
    after = await metrics(api)

    def more(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert after["cowork_jobs_running"] == 0
    assert after['cowork_waiting{kind="permission"}'] == 0
    assert more('cowork_jobs_total{kind="message",status="completed"}') == 1
    assert more('cowork_model_calls_total{outcome="ok"}') == 3
    assert more("cowork_model_call_seconds_count") == 3
    assert more('cowork_model_tokens_total{direction="prompt"}') == 70
    assert more('cowork_tool_calls_total{outcome="ok",tool="create_file"}') == 1
    assert more('cowork_tool_calls_total{outcome="error",tool="unknown"}') == 1
    assert more('cowork_decisions_total{reason="not_allowed_yet",verdict="ask"}') == 1
    assert more('cowork_decisions_total{reason="user",verdict="allow"}') == 1
    assert more('cowork_events_total{type="job-started"}') == 1
    said = " ".join(after)
    assert not [one for one in (context, sent["job_id"], *SECRETS.values()) if one in said]


def test_foreign_tools_are_counted_as_one() -> None:
    assert label_of("mcp__github__search") == "mcp"
    assert label_of("read_file") == "read_file"


@pytest.mark.usefixtures("connected")
async def test_delivery_is_measured_for_what_happens_while_a_page_looks(
    api: Api, scripted: ScriptedServer, jp_ws_fetch: Any
) -> None:
    context = await api.new_context()
    before = (await metrics(api)).get("cowork_event_delivery_seconds_count", 0)
    socket: WebSocketClientConnection = await jp_ws_fetch("cowork", "ws")
    await socket.write_message(
        f'{{"type": "subscribe", "subscription": 1, "context_id": "{context}"}}'
    )
    async with asyncio.timeout(PATIENCE):
        while '"subscribed"' not in str(await socket.read_message()):
            pass
        scripted.add(text("Hello."))
        await api.post(f"context/{context}/messages", {"content": "Go."}, status=202)
        while '"job-completed"' not in str(await socket.read_message()):
            pass
    socket.close()
    assert (await metrics(api))["cowork_event_delivery_seconds_count"] > before


def test_the_docs_list_every_metric() -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "operate.md").read_text()
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `cowork_")]
    listed = {name.removesuffix("_total") for row in rows for name in re.findall(r"`(\w+)`", row)}
    collectors = [one for one in vars(module).values() if isinstance(one, MetricWrapperBase)]
    assert listed == {family.name for one in collectors for family in one.collect()}
