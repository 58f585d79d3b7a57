"""A cage for commands, with each way of confining that this machine has; a house for agents."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from cowork_jupyter.domain.settings import Settings
from tests import quick
from tests.quick import empty_records as empty_records
from tests.quick import ready_tables as ready_tables
from tests.scripted import Scripted, ScriptedServer, text

from .cage import SECRET, WAYS, Cage
from .house import House

pytest_configure = quick.configure
collect_ignore = [] if os.getuid() == 0 else ["test_ordinary_user.py"]

SECRETS = (
    *(".ssh/id_ed25519", ".aws/credentials", ".config/gcloud/key.json", ".netrc", ".pypirc"),
    *(".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".git-credentials"),
    *(".local/share/keyrings/login.keyring", ".local/share/jupyter/runtime/jpserver-1.json"),
    *(".mozilla/firefox/logins.json", ".gnupg/private-keys-v1.d/k", ".bash_history"),
)


@pytest.fixture(params=WAYS)
def cage(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cage]:
    base = Path(os.path.realpath(tmp_path))
    for name in ("ws", "outside", "home", "data"):
        (base / name).mkdir()
    for name in SECRETS:
        path = base / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)
    (base / "home" / "data.csv").write_text("a,b\n")
    (base / "outside" / "precious").write_text("precious")
    (base / "data" / "cowork.sqlite").write_text(SECRET)
    monkeypatch.setenv("HOME", str(base / "home"))
    made = Cage(base, request.param, Settings(base / "ws", base / "data"))
    yield made
    made.sandbox.close()
    assert (base / "outside" / "precious").read_text() == "precious"
    assert [path.name for path in (base / "outside").iterdir()] == ["precious"]


@pytest_asyncio.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    """A service to break into; after each test its disk and its processes are looked at."""
    base = tmp_path.resolve()  # noqa: ASYNC240 - a test has nobody to keep waiting
    monkeypatch.setenv("HOME", str(base / "home"))
    for name in list(os.environ):
        if name.startswith(("COWORK_", "OPENAI_")):
            monkeypatch.delenv(name)
    script = deque[Scripted]()
    done = text("Done.")
    with ScriptedServer(lambda _body: script.popleft() if script else done) as model:
        made = House(base, model, script)
        yield made
        await made.service.close()
    made.check()
