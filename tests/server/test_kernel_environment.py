"""What kernels find in their environment, however they were started: looked up in the process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cowork_jupyter.hosts.server.kernel_tokens import TOKEN_VARIABLE, URL_VARIABLE

from .live import TOKEN, live_server
from .notebook_kernel import NOTEBOOK, write_notebook

PATIENCE = 120
OWN_KEY = "sk-of-cowork-0123456789"
SHARED_KEY = "sk-of-the-user-0123456789"


class Kernels:
    """The kernels of a server, started as other programs start them."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def post(self, address: str, body: dict[str, object] | None = None) -> dict[str, object]:
        """What the server answers."""
        answer = self._client.post(address, json=body or {})
        assert answer.is_success, answer.text
        return dict(answer.json())

    def start(self) -> str:
        """By the address for kernels alone."""
        return str(self.post("kernels", {"name": "python3"})["id"])

    def rename(self, session: str, path: str) -> None:
        """Give the session's notebook another name, at which Jupyter sets variables anew."""
        answer = self._client.patch(f"sessions/{session}", json={"path": path, "name": path})
        assert answer.is_success, answer.text

    def start_session(self) -> tuple[str, str]:
        """With a notebook: the session's id and the kernel's."""
        body = {"path": NOTEBOOK, "type": "notebook", "name": NOTEBOOK}
        made = self.post("sessions", {**body, "kernel": {"name": "python3"}})
        kernel = made["kernel"]
        assert isinstance(kernel, dict)
        return str(made["id"]), str(kernel["id"])


def environment_of(kernel_id: str, *, but: int = 0) -> tuple[int, dict[str, str]]:
    """The process of a kernel, other than one that is known already, and its environment."""
    patience = time.monotonic() + PATIENCE
    while time.monotonic() < patience:
        for process in Path("/proc").iterdir():
            if process.name.isdigit() and int(process.name) != but:
                try:
                    called = (process / "cmdline").read_bytes()
                    if b"ipykernel" in called and kernel_id.encode() in called:
                        pairs = (process / "environ").read_bytes().decode().split("\0")
                        found = dict(one.split("=", 1) for one in pairs if one)
                        return int(process.name), found
                except OSError:
                    continue
        time.sleep(0.05)
    raise TimeoutError(kernel_id)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernels]:
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "root").mkdir()
    write_notebook(folder / "root" / NOTEBOOK)
    environment = {
        "OF_THE_USER": "kept",
        "COWORK_BASE_URL": "http://127.0.0.1:9/v1",
        "COWORK_API_KEY": OWN_KEY,
        "SAME_KEY_BY_ANOTHER_NAME": OWN_KEY,
        "OPENAI_API_KEY": SHARED_KEY,
    }
    with live_server(folder, environment=environment) as server:
        headers = {"Authorization": f"token {TOKEN}"}
        address = f"{server.url}api/"
        with httpx.Client(base_url=address, headers=headers, timeout=PATIENCE) as client:
            yield Kernels(client)


def test_kernels_have_the_servers_environment_however_they_were_started(kernels: Kernels) -> None:
    for kernel_id in (kernels.start(), kernels.start_session()[1]):
        _, found = environment_of(kernel_id)
        assert found["OF_THE_USER"] == "kept"
        assert {"HOME", "PATH", TOKEN_VARIABLE, URL_VARIABLE} <= found.keys()


def test_no_kernel_has_coworks_key_and_each_has_what_the_users_code_may_want(
    kernels: Kernels,
) -> None:
    alone = kernels.start()
    session, in_session = kernels.start_session()
    for kernel_id in (alone, in_session):
        process, found = environment_of(kernel_id)
        assert OWN_KEY not in found.values()
        assert found["OPENAI_API_KEY"] == SHARED_KEY
    kernels.rename(session, "renamed.ipynb")
    kernels.post(f"kernels/{in_session}/restart")
    _, found = environment_of(in_session, but=process)
    assert found["JPY_SESSION_NAME"].endswith("renamed.ipynb")
    assert OWN_KEY not in found.values()
    assert {TOKEN_VARIABLE, "OPENAI_API_KEY", "HOME", "PATH"} <= found.keys()
