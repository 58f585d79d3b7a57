"""A real JupyterHub behind its real proxy, and its users as the tests meet them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.server.live import held_port

from .environment import BIN, FOLDER, PROXY, SERVER_SETTINGS

BASE_URL = "/science/"
OPERATOR = "a-token-of-the-operator"
PATIENCE = 240.0
ADMINISTRATORS = FOLDER / "etc" / "jupyter" / "cowork" / "settings.json"
"""In the environment's own `etc/jupyter`, since tests leave the machine's /etc alone."""

_CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}" + {base_url!r}
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub_port}"
c.JupyterHub.db_url = "sqlite:///{folder}/hub.sqlite"
c.JupyterHub.cookie_secret_file = "{folder}/cookie_secret"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.pid_file = "{folder}/proxy.pid"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/{{username}}"
c.Spawner.cmd = [{singleuser!r}]
c.Spawner.args = {args!r}
c.Spawner.environment = {environment!r}
c.Spawner.http_timeout = c.Spawner.start_timeout = 180
c.JupyterHub.services = [dict(name="operator", api_token={token!r})]
scopes = ["admin:users", "admin:servers", "tokens"]
c.JupyterHub.load_roles = [dict(name="operators", scopes=scopes, services=["operator"])]
"""


def wait_until(holds: Callable[[], Any], what: str) -> Any:
    """What it gives, once that is something."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        if found := holds():
            return found
        time.sleep(0.1)
    raise TimeoutError(what)


@dataclass
class User:
    """Somebody with a server of their own, reached through the proxy."""

    name: str
    home: Path
    client: httpx.Client

    def call(self, method: str, address: str, body: Any = None, status: int = 200) -> Any:
        answer = self.client.request(method, address, json=body)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def refused(self, method: str, address: str, body: Any = None) -> dict[str, Any]:
        error: dict[str, Any] = self.call(method, address, body, status=403)["error"]
        return error

    def new_context(self) -> str:
        return str(self.call("POST", "context", {"role": "actor"}, 201)["id"])

    def say(self, context: str, words: str) -> str:
        """The job of a message."""
        sent = self.call("POST", f"context/{context}/messages", {"content": words}, 202)
        return str(sent["job_id"])

    def ended(self, job_id: str) -> dict[str, Any]:
        def over() -> dict[str, Any] | None:
            job: dict[str, Any] = self.call("GET", f"jobs/{job_id}")
            return None if job["status"] in ("running", "waiting") else job

        found: dict[str, Any] = wait_until(over, f"job {job_id} does not end")
        return found


class Hub:
    """What its operator can do."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self._open = ExitStack()
        self._users: dict[str, User] = {}
        self.client = self._client("hub/api/", OPERATOR)

    def _client(self, path: str, token: str) -> httpx.Client:
        headers = {"Authorization": f"token {token}"}
        client = httpx.Client(base_url=f"{self.url}{path}", headers=headers, timeout=120)
        return self._open.enter_context(client)

    def close(self) -> None:
        self._open.close()

    def user(self, name: str) -> User:
        """A user with a running server."""
        if name not in self._users:
            self.client.post(f"users/{name}")
            (self.folder / name).mkdir()
            token = self.client.post(f"users/{name}/tokens", json={}).json()["token"]
            client = self._client(f"user/{name}/cowork/", token)
            self._users[name] = User(name, self.folder / name, client)
        self.start(name)
        return self._users[name]

    def start(self, name: str) -> None:
        self.client.post(f"users/{name}/server")
        wait_until(lambda: self.is_running(name), f"{name}'s server does not start:\n{self.log}")

    def stop(self, name: str) -> None:
        self.client.delete(f"users/{name}/server")
        wait_until(lambda: not self.has_server(name), f"{name}'s server does not stop")

    def has_server(self, name: str) -> bool:
        return bool(self._user(name)["servers"])

    def is_running(self, name: str) -> bool:
        return any(one["ready"] for one in self._user(name)["servers"].values())

    def _user(self, name: str) -> dict[str, Any]:
        user: dict[str, Any] = self.client.get(f"users/{name}").raise_for_status().json()
        return user

    @contextmanager
    def culler(self, seconds: int) -> Iterator[None]:
        """JupyterHub's own, which ends servers that were idle for so long."""
        command = [str(BIN / "jupyterhub-idle-culler"), f"--url={self.url}hub/api"]
        with (
            (self.folder / "culler.log").open("wb") as log,
            subprocess.Popen(
                [*command, f"--timeout={seconds}", "--cull-every=1"],
                env={**os.environ, "JUPYTERHUB_API_TOKEN": OPERATOR},
                stdout=log,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            try:
                yield
            finally:
                process.terminate()

    @property
    def log(self) -> str:
        return (self.folder / "hub.log").read_text()


@contextmanager
def running_hub(folder: Path) -> Iterator[Hub]:
    """One that answers."""
    with ExitStack() as held:
        port, hub_port, proxy_port = (held.enter_context(held_port()) for _ in range(3))
        config = _CONFIG.format(
            base_url=BASE_URL,
            port=port,
            hub_port=hub_port,
            proxy_port=proxy_port,
            folder=folder,
            proxy=str(PROXY),
            singleuser=str(BIN / "jupyterhub-singleuser"),
            args=["--allow-root"] if os.geteuid() == 0 else [],
            environment={**SERVER_SETTINGS, "JUPYTERHUB_ACTIVITY_INTERVAL": "1"},
            token=OPERATOR,
        )
        (folder / "jupyterhub_config.py").write_text(config)
        log = held.enter_context((folder / "hub.log").open("wb"))
        process = subprocess.Popen(
            [str(BIN / "jupyterhub"), "--config", str(folder / "jupyterhub_config.py")],
            cwd=folder,
            env={**_clean_environment(), "CONFIGPROXY_AUTH_TOKEN": OPERATOR},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        hub = Hub(folder, f"http://127.0.0.1:{port}{BASE_URL}")
        try:
            wait_until(lambda: process.poll() is not None or _answers(hub), "no hub")
            assert process.poll() is None, hub.log
            yield hub
        finally:
            hub.close()
            process.terminate()  # it ends the proxy and all servers
            process.wait(60)


def _answers(hub: Hub) -> bool:
    try:
        return hub.client.get("").status_code == 200
    except httpx.TransportError:
        return False


def _clean_environment() -> dict[str, str]:
    ours = ("COWORK_", "OPENAI_", "JUPYTER", "XDG_")
    kept = {name: one for name, one in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PATH": f"{BIN}{os.pathsep}{kept['PATH']}"}


def administrators_settings(**content: Any) -> None:
    """What the administrator says from now on, to every server that runs too."""
    ADMINISTRATORS.parent.mkdir(parents=True, exist_ok=True)
    fresh = ADMINISTRATORS.with_name("settings.new")
    fresh.write_text(json.dumps(content))
    fresh.replace(ADMINISTRATORS)
