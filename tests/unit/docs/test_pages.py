"""The pages that people wrote: their examples work, and their lists are those of the code."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.agents.plan.step_check import StepEnd, failure_question
from cowork_jupyter.domain.plan import PlanStep
from cowork_jupyter.domain.replies import StepResult
from cowork_jupyter.hosts.cli import command
from cowork_jupyter.llm.model_probe import KNOWN_SERVERS
from cowork_jupyter.parts.acp.commands import available
from cowork_jupyter.parts.external_agents.configured import ConfiguredAgents
from cowork_jupyter.parts.local_models.model_dir import CATALOGUE
from cowork_jupyter.parts.mcp.config import read_server
from cowork_jupyter.parts.mcp_server.connect import CLIENTS
from cowork_jupyter.policy.rules import Effect, Scope, read_rule
from cowork_jupyter.policy.settings_file import check_policy
from docs.site import ROOT


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def examples(name: str, language: str) -> list[str]:
    """The code of a page in one language."""
    return re.findall(rf"```{language}[^\n]*\n(.*?)```", page(name), re.DOTALL)


def test_the_workflow_of_the_example_can_be_run() -> None:
    (source,) = examples("howto/own-tools", "python")
    known: dict[str, Any] = {"__name__": "example"}
    exec(source, known)
    (workflow,) = known["WORKFLOWS"]
    request = workflow.render(workflow.validated({"path": "sales.csv"}))
    assert request == 'Plan the weekly report from "sales.csv".'


@pytest.mark.parametrize(
    "policy",
    [
        *(json.loads(one) for one in examples("howto/permissions", "json")),
        *(tomllib.loads(one) for one in examples("howto/headless", "toml")),
    ],
)
def test_the_rules_of_the_examples_can_be_followed(policy: dict[str, Any]) -> None:
    rules = [read_rule(Effect(effect), text, Scope.GLOBAL) for effect, text in check_policy(policy)]
    assert rules
    assert [rule.problem for rule in rules if rule.problem] == []


def test_the_servers_of_the_example_can_be_used() -> None:
    (settings,) = (json.loads(one) for one in examples("howto/mcp", "json"))
    kinds = {
        name: read_server(name, raw, "user").kind for name, raw in settings["mcpServers"].items()
    }
    assert kinds == {"files": "stdio", "tickets": "http"}


def test_the_agents_of_the_examples_can_be_started(tmp_path: Path) -> None:
    written = []
    for settings in examples("howto/own-tools", "json"):
        (tmp_path / "settings.json").write_text(settings)
        written.append(ConfiguredAgents(tmp_path / "settings.json").all()["other"].state)
    assert written == [frozenset(), {f"{Path.home()}/.other-agent"}]


def test_lists_in_the_pages_are_those_of_the_code() -> None:
    local, editors = page("howto/local-model"), page("howto/editors")
    assert [
        one.name for one in CATALOGUE if f"| `{one.name}` | {one.size / 1e9:.1f} GB" not in local
    ] == []
    assert [one.name for one in available() if f"| `/{one.name}" not in editors] == []
    failure = failure_question(
        PlanStep(id="1", step_number=1, action="Go"),
        StepEnd(StepResult(status="partly", summary="why")),
    )
    plans = page("howto/plans")
    assert [one.label for one in failure.options if f"| {one.label} |" not in plans] == []
    model = page("howto/connect-a-model")
    assert [one for one in KNOWN_SERVERS if f"| {one.port} |" not in model] == []
    others = page("howto/connect-other-agents")
    assert [
        name
        for name, one in CLIENTS.items()
        if f"| {one.label} | `{name}` | `{one.file}`" not in others
    ] == []
    headless = page("howto/headless")
    codes = (command.SUCCESS, command.FAILED, command.USAGE_ERROR, command.DENIED)
    assert [one for one in (*codes, command.INTERRUPTED) if f"\n| {one} | " not in headless] == []


def test_each_security_promise_names_a_test_that_proves_it() -> None:
    text = page("security")
    promised = text.partition("## What is promised")[2].partition("## What is not promised")[0]
    promises = [one.rstrip(".") for one in re.findall(r"^\*\*(.+?)\*\*", promised, re.MULTILINE)]
    rows = re.findall(r"^\| (.+?) \| (`.+) \|$", text, re.MULTILINE)
    assert len(promises) > 20
    assert [name for name, _ in rows] == promises
    for _, proofs in rows:
        for proof in proofs.split("; "):
            file, *names = re.findall(r"`(.+?)`", proof)
            code = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert [name for name in names if f"def {name}(" not in code] == []
