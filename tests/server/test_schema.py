"""schemathesis against a live server: whatever it sends, `openapi.json` names the answer.

This module is also what schemathesis loads its hooks from.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from schemathesis.openapi.checks import EnsureResourceAvailability, RejectedPositiveData

from cowork_jupyter.api import api as endpoints
from cowork_jupyter.api.openapi import describe_api
from cowork_jupyter.api.routes import table
from cowork_jupyter.domain.messages import QuestionData
from cowork_jupyter.domain.plan import PlanStep
from cowork_jupyter.domain.replies import Question
from tests.scripted import Scripted, ScriptedServer, plan, text
from tests.scripted.server import last_words

from .api import PATIENCE
from .live import TOKEN, LiveServer, live_server

assert endpoints  # importing it fills the table

ROOT = Path(__file__).parent.parent.parent
HEADERS = {"Authorization": f"token {TOKEN}"}
HANGS = 1200.0
"""Seconds after which something must be stuck; a run takes a minute, beside others some more."""

CONFIG = """
hooks = "tests.server.test_schema"
request-timeout = {patience:.1f}
suppress-health-check = ["too_slow"]
headers = {{ Authorization = "{authorization}" }}

[generation]
max-examples = 15
deterministic = true
database = "none"

[checks.negative_data_rejection]
expected-statuses = ["400", "404", "409", "413", "422"]

[reports.json]
path = "{report}"
"""
"""A body that breaks the schema by its length may be too large to be read at all: 413. How long
it takes to think of requests says something about the machine, and nothing about us.
"""

KNOWN_NAMES = """
[dictionaries.{parameter}{number}]
values = {values}

[[operations]]
include-path-regex = "{path}"
parameters = {{ "path.{parameter}" = {{ dictionary = "{parameter}{number}", probability = 0.5 }} }}
"""
"""Names that lead somewhere, where schemathesis does not find them in other answers."""

PASSED_THROUGH = "/v1/(models|chat/completions)$|/events/ws$"
"""What is answered there is the upstream's business, and a socket is no request; both have tests
of their own.
"""

ASK, PLAN = "Ask me something.", "Make a plan."


def reply(body: dict[str, Any]) -> Scripted:
    """A short text, except for the two messages of ours."""
    said = last_words(body, "user")
    if ASK in said:
        return text('{"type": "question", "question": "What name?"}')
    return plan("Tidy up", "Look", "Sweep") if PLAN in said else text("Well.")


# Hooks, in the process of schemathesis


@schemathesis.hook
def before_call(
    context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]
) -> None:
    """Polls that would be let wait for long wait for a moment."""
    if not case.path.endswith("/events"):
        return
    try:
        if 0 <= float(case.query.get("timeout", 25)) <= 120:
            case.query["timeout"] = 0.05
    except (TypeError, ValueError):
        return  # will be refused


@schemathesis.hook
def filter_failure(
    context: schemathesis.HookContext,
    failure: Exception,
    case: schemathesis.Case[Any],
    response: schemathesis.Response,
) -> bool:
    """What a schema cannot know (which prompts exist, what a workflow needs, that there is no plan
    yet) is refused under a code of its own. Under the general codes, valid requests must pass.
    """
    if not isinstance(failure, (EnsureResourceAvailability, RejectedPositiveData)):
        return True
    return response.json()["error"]["code"] in {"bad_json", "invalid", "not_found"}


# Tests


@pytest.mark.slow
@pytest.mark.timeout(HANGS + 60)
def test_no_request_gets_an_answer_that_the_schema_does_not_name(tmp_path: Path) -> None:
    with ScriptedServer(reply) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with live_server(tmp_path, environment=environment) as server:
            report = run_schemathesis(server, tmp_path)
            document = httpx.get(
                f"{server.api}openapi.json", headers=HEADERS, timeout=PATIENCE
            ).json()
    assert "Traceback" not in server.log
    # Of all documented calls, schemathesis leaves out the one that it got the document from.
    ours = {one for one in operations(document) if not re.search(PASSED_THROUGH, one)}
    assert {*report["valid_rates"], "GET /openapi.json"} == ours


def test_a_question_without_a_default_is_as_the_schema_says_when_it_is_read_back() -> None:
    asked = QuestionData(**dict(Question(question="Which?")))
    stored = QuestionData.model_validate_json(asked.model_dump_json())
    schemas = describe_api(table).model_dump()["components"]["schemas"]
    assert set(schemas["QuestionData"]["required"]) <= set(stored.model_dump())


def test_a_step_that_says_nothing_of_roles_is_as_the_schema_says() -> None:
    schemas = describe_api(table).model_dump()["components"]["schemas"]
    step = PlanStep(id="1", step_number=1, action="Look")
    assert set(schemas["PlanStep"]["required"]) <= set(step.model_dump())


def run_schemathesis(server: LiveServer, folder: Path) -> dict[str, Any]:
    """Its report, once it is content."""
    config, report = folder / "schemathesis.toml", folder / "report.json"
    settings = CONFIG.format(
        authorization=HEADERS["Authorization"], report=report, patience=PATIENCE
    )
    for number, (path, parameter, values) in enumerate(known_names(server)):
        settings += KNOWN_NAMES.format(
            path=path, parameter=parameter, number=number, values=json.dumps(values)
        )
    config.write_text(settings)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"),
        *(f"{server.api}openapi.json", "--url", server.api, "--no-color"),
        *("--exclude-path-regex", PASSED_THROUGH),
    ]
    result = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=HANGS,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def known_names(server: LiveServer) -> Iterator[tuple[str, str, list[str]]]:
    """Paths, what varies in them, and values for it: there is a question, and there is a plan."""
    with httpx.Client(base_url=server.api, headers=HEADERS, timeout=PATIENCE) as client:
        asking, planning = (
            client.post("context", json={"role": "planner"}).json()["id"] for _ in "12"
        )
        jobs = [
            client.post(f"context/{context}/messages", json={"content": said}).json()["job_id"]
            for context, said in ((asking, ASK), (planning, PLAN))
        ]
        asked = wait_for(client, f"context/{asking}/questions", lambda found: found["items"])
        wait_for(client, f"context/{planning}/plan", lambda found: found["plan"])
        saved = [{"name": f"tidy_up_{number}", "context_id": planning} for number in range(5)]
        templates = [client.post("workflows", json=one).json()["name"] for one in saved]
    yield "^/jobs/", "id", jobs
    yield "^/questions/", "id", [one["id"] for one in asked["items"]]
    yield "/plan", "id", [planning]
    yield "^/v1/system-prompts/", "id", ["default"]
    yield "^/workflows/", "name", ["review_changes", *templates]


def wait_for(client: httpx.Client, address: str, done: Callable[[Any], Any]) -> Any:
    """The answer, once it is as wished."""
    give_up = time.monotonic() + PATIENCE
    while not done(answer := client.get(address).json()):
        assert time.monotonic() < give_up, answer
        time.sleep(0.05)
    return answer


def operations(document: dict[str, Any]) -> set[str]:
    """Every call that the document describes, as schemathesis names it."""
    return {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    }
