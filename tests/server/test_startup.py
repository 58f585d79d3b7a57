"""Starting Jupyter must not get slower or heavier because of us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

START_A_SERVER_AND_LIST_MODULES = """
import json, sys
from jupyter_server.serverapp import ServerApp
app = ServerApp()
app.initialize(argv=["--port=0", "--no-browser", "--allow-root", *sys.argv[2:]])
json.dump(sorted(sys.modules), open(sys.argv[1], "w"))
"""


def modules_after_start(tmp_path: Path, *, extension: bool) -> set[str]:
    report = tmp_path / f"modules-{extension}.json"
    settings = tmp_path / str(extension) / "cowork" / "settings.json"
    settings.parent.mkdir(parents=True)
    servers = {f"server{number}": {"command": "no-such-server"} for number in range(20)}
    settings.write_text(json.dumps({"mcpServers": servers}))  # which cost nothing until used
    enabled = '{"cowork_jupyter": %s}' % ("True" if extension else "False")
    subprocess.run(
        [
            *(sys.executable, "-c", START_A_SERVER_AND_LIST_MODULES, str(report)),
            f"--ServerApp.jpserver_extensions={enabled}",
            f"--ServerApp.root_dir={tmp_path}",
        ],
        env={**os.environ, "JUPYTER_CONFIG_DIR": str(tmp_path / str(extension))},
        check=True,
        capture_output=True,
    )
    return set(json.loads(report.read_text()))


def test_the_extension_brings_nothing_but_its_own_few_modules(tmp_path: Path) -> None:
    with_us = modules_after_start(tmp_path, extension=True)
    without = modules_after_start(tmp_path, extension=False)
    added = {name for name in with_us - without if name.split(".")[0] != "cowork_jupyter"}
    assert "cowork_jupyter.hosts.server.extension" in with_us
    assert added == set()
    assert not with_us & {"openai", "pydantic", "anywidget", "mcp", "cowork_jupyter.store"}
    assert not [name for name in with_us if name.startswith("cowork_jupyter.mcp")]
