"""The protocol's own conformance suite, at a real Jupyter server.

The suite asks for tools by names of its own. Those of them that our kind of tool can be are in
`conformance_tools`; what is left is listed here with the reason, and the suite fails both when
one that is not listed fails and when one that is listed does not.

Version 0.1.13 is the newest that runs on Node 20; those after it need Node 22.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.server.live import TOKEN, live_server

from .conftest import HERE, NPM

pytestmark = pytest.mark.asyncio

NOT_OURS = {
    "we offer tools only, no resources": (
        "resources-list",
        "resources-read-text",
        "resources-read-binary",
        "resources-templates-read",
        "resources-subscribe",
        "resources-unsubscribe",
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
    "we ask the user in the panel, and their client's model nothing": (
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
    ),
    "a stream that has broken off is not taken up again": ("server-sse-polling",),
}
OURS = {
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
}


@pytest.mark.timeout(600)  # more than thirty scenarios, one after the other
async def test_what_applies_to_a_server_of_tools_passes(tmp_path: Path) -> None:
    baseline = tmp_path / "not_ours.yml"  # JSON is YAML
    baseline.write_text(json.dumps({"server": [one for few in NOT_OURS.values() for one in few]}))
    both = {"cowork_jupyter": True, "tests.mcp.conformance_tools": True}
    extensions = f"--ServerApp.jpserver_extensions={both}"
    here = {"PYTHONPATH": str(HERE.parent.parent)}
    with live_server(tmp_path, extensions, environment=here) as server:
        suite = await asyncio.create_subprocess_exec(
            *("node", str(NPM / "conformance" / "dist" / "index.js"), "server", "--suite", "all"),
            *("--url", f"{server.api}mcp?token={TOKEN}", "--expected-failures", str(baseline)),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told = (await suite.communicate())[0].decode()
    assert suite.returncode == 0, told
    passed = {line.split()[1].rstrip(":") for line in told.splitlines() if line.startswith("✓")}
    assert passed >= OURS, told
