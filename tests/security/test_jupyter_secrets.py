"""Jupyter's own secrets, wherever variables and settings have moved them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from cowork_jupyter.hosts.config import Cowork
from tests.quick import each
from tests.scripted import ScriptedServer, call, text
from tests.server.live import TOKEN, live_server

from .cage import PYTEST, SECRET, WAYS, Cage, python
from .test_keys import wait_for

MOVED = {
    "JUPYTER_DATA_DIR": ("moved", "moved/runtime", ".jupyter"),
    "JUPYTER_RUNTIME_DIR": (".local/share/jupyter", "moved", ".jupyter"),
    "JUPYTER_CONFIG_DIR": (".local/share/jupyter", ".local/share/jupyter/runtime", "moved"),
    "XDG_DATA_HOME": ("moved/jupyter", "moved/jupyter/runtime", ".jupyter"),
    "": (".local/share/jupyter", ".local/share/jupyter/runtime", ".jupyter"),
}
"""The folders for data, runtime and settings, by what is set to `moved`."""


@pytest.fixture(params=MOVED)
def folders(
    request: pytest.FixtureRequest, cage: Cage, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, ...]:
    """Where they are in this home, and commands that run in it."""
    for name in list(os.environ):
        if name.startswith(("JUPYTER_", "XDG_")):
            monkeypatch.delenv(name)
    if request.param:
        monkeypatch.setenv(request.param, str(cage.home / "moved"))
    settings = Cowork().settings(workspace=cage.root)
    cage.change(private=settings.private)
    return tuple(cage.home / name for name in MOVED[request.param])


def keep(path: Path, content: str = SECRET) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


@pytest.mark.asyncio
async def test_no_command_reads_jupyters_secrets(cage: Cage, folders: tuple[Path, ...]) -> None:
    data, runtime, config = folders
    secrets = [
        *(runtime / "jpserver-17.json", runtime / "kernel-1.json", data / "notebook_secret"),
        *(runtime / "jupyter_cookie_secret", config / "jupyter_server_config.json"),
        *(config / "jupyter_server_config.py", config / "lab/user-settings/key.json"),
        *(data / "jupyter_ai/config.json", config / "jupyter_config.json"),
    ]
    for path in secrets:
        keep(path)
    reading = "; ".join(f"cat '{path}'" for path in secrets)
    looking = f"{reading}; grep -rs . '{data}' '{runtime}' '{config}'"
    assert SECRET not in await cage.run(looking)
    assert SECRET not in await cage.test(looking)
    # Nor what comes only after a first command has run.
    later = [keep(data / "later/secret"), keep(runtime / "jpserver-18.json")]
    assert SECRET not in await cage.run("; ".join(f"cat '{path}'" for path in later))


@pytest.mark.asyncio
@pytest.mark.parametrize("cage", each(len(WAYS), WAYS), indirect=True)
@pytest.mark.parametrize("folders", ["JUPYTER_DATA_DIR"], indirect=True)
async def test_what_commands_need_of_jupyter_is_there(
    cage: Cage, folders: tuple[Path, ...]
) -> None:
    keep(folders[0] / "notebook_secret")
    keep(folders[0] / "kernels/mine/kernel.json", json.dumps({"argv": ["mine"], "language": "x"}))
    keep(cage.root / "test_it.py", "def test_it(tmp_path): (tmp_path / 'x').write_text('x')")
    assert "mine" in await cage.run(f"cat '{folders[0]}/kernels/mine/kernel.json'")
    code = "import jupyter_core.paths as p; print(p.jupyter_data_dir(), p.jupyter_config_path())"
    assert "Error" not in await cage.python(code)
    listed = await cage.run(f"{python()} -m jupyter_client.kernelspecapp list --json")
    assert "python3" in listed
    for run in (cage.run, cage.test):
        assert "1 passed" in await run(f"{PYTEST} -q -p no:cacheprovider test_it.py")


def test_a_tester_does_not_become_the_user(tmp_path: Path) -> None:
    """With a real server whose settings put each secret somewhere else."""
    home = Path(os.path.realpath(tmp_path)) / "home"
    names = {"JUPYTER_DATA_DIR": "d", "JUPYTER_RUNTIME_DIR": "r", "JUPYTER_CONFIG_DIR": "c"}
    moved = {name: str(home / folder) for name, folder in names.items()}
    config = keep(home / "elsewhere/my_settings.py", f"# {SECRET}\n")
    cookie, notary = keep(home / "cookie"), keep(home / "notary")
    arguments = [
        *(f"--config={config}", f"--ServerApp.cookie_secret_file={cookie}"),
        f"--NotebookNotary.secret_file={notary}",
    ]
    with ScriptedServer() as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        environment |= {**moved, "HOME": str(home)}
        with live_server(tmp_path, *arguments, environment=environment) as server:
            command = f"grep -rs . {home}/r {home}/c; cat {config} {cookie} {notary}; echo looked"
            model.add(call("execute_command", command=command), text("Done."))
            headers = {"Authorization": f"token {TOKEN}"}
            with httpx.Client(base_url=server.api, headers=headers, timeout=120) as client:
                said = _tell(client)
            assert any((home / "r").glob("jpserver-*.json"))
    assert "looked" in said
    assert SECRET not in said
    assert TOKEN not in said


def _tell(client: httpx.Client) -> str:
    """All that is known of a conversation with a tester whose user agrees to everything."""
    context = client.post("context", json={"role": "tester"}).json()["id"]
    sent = client.post(f"context/{context}/messages", json={"content": "Look."}).json()

    def is_over() -> bool:
        for one in client.get(f"context/{context}/permissions").json()["items"]:
            client.post(f"permissions/{one['id']}", json={"decision": "allow"})
        job: dict[str, Any] = client.get(f"jobs/{sent['job_id']}").json()
        return job["status"] not in ("running", "waiting")

    wait_for(is_over)
    return client.get(f"context/{context}/messages").text
