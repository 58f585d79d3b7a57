"""The same model as our actor: in a notebook without a server, and in a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbclient import NotebookClient

from .asking import Asked, Attempt, Server, Strike
from .task import Task
from .tasks import write_notebook

LIMIT = 600
POLICY = {"permissions": {"allow": ["run_code", "run_cell", "insert_cell", "execute_command"]}}
_MARK = "EVAL "
_CELL = """
import json
from cowork_jupyter import Cowork
cw = Cowork({conversation!r}, policy="policy.json")
run = cw.ask({text!r}, role="actor")
print({mark!r} + json.dumps({{"messages": list(cw.messages), "usage": run.snapshot["usage"]}}))
"""


def in_notebook(
    server: Server,
    question: Asked,
    folder: Path,
    conversation: str = "first",
    before: Iterable[str] = (),
    then: str = "",
) -> Attempt:
    """A cell of a notebook that nobody sits in front of."""
    _prepare(folder, server)
    texts = [*before, question.wording]
    asking = [_CELL.format(text=text, mark=_MARK, conversation=conversation) for text in texts]
    sources = [*asking, *filter(None, (question.probe, then))]
    notebook = write_notebook(folder, sources)
    attempt = Attempt()
    began = time.perf_counter()
    client = NotebookClient(
        notebook, timeout=LIMIT, resources={"metadata": {"path": str(folder)}}, allow_errors=True
    )
    client.execute(env=_environment(server, folder))
    attempt.seconds = time.perf_counter() - began
    printed = "".join(
        str(output.get("text", "")) for cell in notebook.cells for output in cell.outputs
    )
    found = [line for line in printed.splitlines() if line.startswith(_MARK)]
    if not found:
        shown = [str(output.get("data", output)) for output in notebook.cells[0].outputs]
        said = printed.strip()[-300:] or " ".join(shown)[:1_000]
        attempt.strikes.append(Strike("run", "no answer", said))
        return attempt
    told = json.loads(found[-1].removeprefix(_MARK))
    _read_usage(told["usage"], attempt)
    _read_messages(told["messages"], attempt)
    return attempt


def as_third(server: Server, question: Asked, folder: Path) -> Attempt:
    """After two other questions in the same conversation."""
    path = question.files[0]
    before = (f"How many rows does {path} have?", "Which of its columns have missing values?")
    return in_notebook(server, question, folder, before=before)


def with_skill(server: Server, question: Asked, folder: Path) -> Attempt:
    """In a notebook, by the skill that the task is about: `/joins write …`."""
    if not (isinstance(question, Task) and question.skill):
        return in_notebook(server, question, folder)
    called = replace(question, wording=f"/{question.skill} {question.wording}")
    return in_notebook(server, called, folder)


def second_time(server: Server, question: Asked, folder: Path) -> Attempt:
    """In another conversation of another day, with what the first run taught kept."""
    before = set(folder.iterdir())
    in_notebook(server, question, folder, then="%cowork memory --keep")
    for file in folder.iterdir():
        if file not in before and file.is_file():
            file.unlink()
    return in_notebook(server, question, folder, conversation="second")


def in_terminal(server: Server, question: Asked, folder: Path) -> Attempt:
    """`jupyter cowork act`, as a script would call it."""
    _prepare(folder, server)
    attempt = Attempt()
    began = time.perf_counter()
    program = "from cowork_jupyter.hosts.cli.app import main; main()"
    command = [sys.executable, "-c", program, "act", "--json", "--new"]
    done = subprocess.run(
        [*command, "--policy", "policy.json", question.wording],
        cwd=folder, env=_environment(server, folder), capture_output=True, text=True,
        timeout=LIMIT, check=False,
    )  # fmt: skip
    attempt.seconds = time.perf_counter() - began
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    for event in events:
        if event["type"] == "usage":
            attempt.turns += 1
            attempt.tokens += event["data"].get("total_tokens") or 0
    _read_messages((one["data"] for one in events if one["type"] == "message"), attempt)
    if not events:
        attempt.strikes.append(Strike("run", "no answer", done.stderr.strip()[-300:]))
    return attempt


def _prepare(folder: Path, server: Server) -> None:
    (folder / "policy.json").write_text(json.dumps(POLICY))
    config = folder.parent / "home" / "config"
    config.mkdir(parents=True, exist_ok=True)
    protocol = {"tool_protocol": server.protocol} if server.protocol else {}
    settings = {"Cowork": {"max_seconds": LIMIT, **protocol}}
    (config / "jupyter_config.json").write_text(json.dumps(settings))


def _environment(server: Server, folder: Path) -> dict[str, str]:
    """Its own folders, so that nothing of another question is known."""
    home = folder.parent / "home"
    return {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "COWORK_BASE_URL": server.base_url,
        "COWORK_MODEL": server.model,
        "COWORK_API_KEY": server.api_key,
    }


def _read_usage(usage: dict[str, Any], attempt: Attempt) -> None:
    attempt.turns = usage.get("turns") or 0
    attempt.tokens = usage.get("total_tokens") or 0


def _read_messages(messages: Iterable[dict[str, Any]], attempt: Attempt) -> None:
    for message in messages:
        text = "".join(part.get("text", "") for part in message.get("content", []))
        data = message.get("data") or {}
        called = f"{data.get('tool')} {data.get('parameters')}"
        said = called if message["message_type"] == "tool_call" else text
        attempt.transcript.append(f"{message['role']}: {said}")
        if strike := _strike(message, data, text):
            attempt.strikes.append(strike)
        if message["message_type"] == "text" and message["role"] == "assistant" and text:
            attempt.answer = text


def _strike(message: dict[str, Any], data: dict[str, Any], text: str) -> Strike | None:
    if message["message_type"] == "tool_result" and not data.get("ok", True):
        error = data.get("error") or {}
        exception = str(error.get("details", {}).get("exception", ""))
        if exception:
            return Strike("code", exception.partition(":")[0], text[:200])
        return Strike("tool", str(error.get("code")), text[:200])
    if data.get("problem"):
        return Strike("reply", "unusable", str(data["problem"])[:200])
    for kind in ("not computed", "answer lacks"):
        if message["role"] == "system" and kind in text:
            return Strike("form", kind, text[:200])
    return None
