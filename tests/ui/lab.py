"""A JupyterLab of its own for each test session: own folders, own port, own environment."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"
TOKEN = "test-token"
START_LIMIT = 180.0


class LabServer:
    """`with LabServer(folder) as lab:` runs JupyterLab on copies of our notebooks."""

    def __init__(
        self,
        folder: Path,
        environment: dict[str, str] | None = None,
        python: str = sys.executable,
        *,
        tour: bool = False,
    ) -> None:
        """With the `tour` it is as it is for somebody who has never seen Cowork."""
        self.root = folder / "root"
        self.port = _free_port()
        self._folder = folder
        self._python = python
        self._environment = environment or {}
        self._tour = tour
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        shutil.copytree(NOTEBOOKS, self.root)
        self._keep_lab_quiet()
        self._configure()
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the server; its folders and its port stay."""
        if self._process:
            self._process.terminate()
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def restart(self) -> None:
        """As an administrator would: another process, the same port and folders."""
        self.stop()
        self._start()

    def url(self, path: str) -> str:
        """An address in this Lab, with the token that opens it."""
        return f"http://127.0.0.1:{self.port}/{path}?token={TOKEN}"

    @property
    def log(self) -> str:
        """What the server has written so far."""
        return (self._folder / "lab.log").read_text()

    def setting(self, extension: str, plugin: str) -> str:
        """What Lab has kept of a user's choices: a page that shows them may be ahead of that."""
        file = self._folder / "settings" / extension / f"{plugin}.jupyterlab-settings"
        return file.read_text() if file.exists() else ""

    def _start(self) -> None:
        with (self._folder / "lab.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                cwd=self.root,
                env=self._full_environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._wait_until_it_answers()

    def _command(self) -> list[str]:
        return [
            *(self._python, "-m", "jupyterlab", "--no-browser"),
            *(["--allow-root"] if os.geteuid() == 0 else []),
            f"--port={self.port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={TOKEN}",
            f"--ServerApp.root_dir={self.root}",
        ]

    def _full_environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("COWORK_", "OPENAI_", "JUPYTER"))
        }
        folders = {
            f"JUPYTER_{what}_DIR": str(self._folder / what)
            for what in ("CONFIG", "DATA", "RUNTIME")
        }
        settings = {"JUPYTERLAB_SETTINGS_DIR": str(self._folder / "settings")}
        ipython = {"IPYTHONDIR": str(self._folder / "ipython")}
        return {**inherited, **folders, **settings, **ipython, **self._environment}

    def _keep_lab_quiet(self) -> None:
        """No news, and nothing is saved but what a test saves: Lab would after two minutes."""
        news = {"fetchNews": "false", "checkForUpdates": False}
        self.set("@jupyterlab/apputils-extension", "notification", **news)
        self.set("@jupyterlab/docmanager-extension", "plugin", autosave=False)
        if not self._tour:
            self.set("cowork-jupyter", "plugin", tour=False)

    def set(self, extension: str, plugin: str, **choices: object) -> None:
        """What a user has chosen before."""
        folder = self._folder / "settings" / extension
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{plugin}.jupyterlab-settings").write_text(json.dumps(choices))

    def _configure(self) -> None:
        """Scripted models go by the words they are sent, so they are not told of other cells.

        A test that is about just that has written its file before."""
        config = self._folder / "CONFIG"
        _write_unless_there(
            config / "jupyter_server_config.json", {"Cowork": {"notebook_tokens": 0}}
        )
        # Looking for something to build would run node for every page.
        _write_unless_there(config / "labconfig" / "page_config.json", {"buildCheck": False})

    def _wait_until_it_answers(self) -> None:
        assert self._process
        give_up = time.monotonic() + START_LIMIT
        while time.monotonic() < give_up and self._process.poll() is None:
            try:
                with urllib.request.urlopen(self.url("api/status"), timeout=10):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.stop()
        raise TimeoutError(f"JupyterLab did not start:\n{self.log}")


def _write_unless_there(file: Path, choices: dict[str, object]) -> None:
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(choices))


def _free_port() -> int:
    """Below those that systems give to whoever does not care: kernels and connections take many,
    and would come in between while Lab starts, or is started again."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")
