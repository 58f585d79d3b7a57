"""A workspace with a checkpoint store of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from cowork_jupyter.checkpoints.entries import Change, Snapshot, Uncovered, same
from cowork_jupyter.checkpoints.rollback import (
    RollbackChoice,
    RollbackPlan,
    carry_out,
    plan_rollback,
)
from cowork_jupyter.checkpoints.store import Checkpoint, CheckpointStore
from cowork_jupyter.checkpoints.views import Skipped
from cowork_jupyter.checkpoints.workspace_state import Exclusions, WorkspaceState


class Site:
    """A workspace, its store, and tools that are recorded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "workspace"
        self.root.mkdir(exist_ok=True)
        self.worked_until = 0
        """When the last job ended; 0 if that is now."""
        self.open()

    def open(self, exclusions: Exclusions | None = None) -> None:
        self.store = CheckpointStore(self.folder / "store")
        self.state = WorkspaceState(self.store, self.root, exclusions or Exclusions())

    def reopen(self, exclusions: Exclusions | None = None) -> None:
        self.state.close()
        self.open(exclusions)

    def write(self, path: str, content: bytes | str = b"", mode: int | None = None) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            place.chmod(mode)
        return place

    def scan(self) -> Snapshot:
        return self.state.scan()

    def changes(self, before: Snapshot) -> dict[str, str]:
        """What happened since, in one word for each path."""
        return {one.path: one.kind for one in before.changes_until(self.scan())}

    def record(self, name: str, before: Snapshot, context: str = "ctx", **ids: str) -> list[Change]:
        """A checkpoint of all that happened since a scan."""
        changes = before.changes_until(self.scan())
        made = Checkpoint(context, ids.get("job"), ids.get("task"), changes, id=name)
        self.store.record(made, self.root)
        return changes

    def named(self, name: str, paths: list[str], context: str = "ctx") -> NamedCall:
        """A checkpoint of a tool that names its files."""
        return NamedCall(self, name, paths, context)

    def plan(
        self, *names: str, documents: dict[str, bytes | None] | None = None, **wanted: object
    ) -> RollbackPlan:
        chosen = [self.store.checkpoint(name) for name in names]
        history = self.history(chosen[0].position)
        choice = RollbackChoice(**wanted)  # type: ignore[arg-type]
        return plan_rollback(
            self.state, chosen, history, choice, documents, self.worked_until or time.time_ns()
        )

    def history(self, since: int = 0) -> list[Checkpoint]:
        return [one for one in self.store.checkpoints(self.root) if one.position >= since]

    def roll_back(
        self, *names: str, documents: dict[str, bytes | None] | None = None, **wanted: object
    ) -> RollbackPlan:
        plan = self.plan(*names, documents=documents, **wanted)
        carry_out(self.state, plan.changes, plan)
        return plan

    def content(self, digest: bytes | None) -> bytes:
        assert digest
        return self.store.objects.read(digest)


class NamedCall:
    def __init__(self, site: Site, name: str, paths: list[str], context: str) -> None:
        self._site, self._name, self._paths, self._context = site, name, paths, context

    def __enter__(self) -> None:
        self._before = self._site.state.capture(self._paths)

    def __exit__(self, *_: object) -> None:
        after = self._site.state.capture(self._before)
        changes = [
            Change(path, entry, after[path])
            for path, entry in sorted(self._before.items())
            if not same(entry, after[path])
        ]
        self._site.store.record(
            Checkpoint(self._context, changes=changes, id=self._name), self._site.root
        )


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    yield made
    made.state.close()


@pytest.fixture
def nobodys() -> Iterator[Path]:
    """A folder that also a user without privileges reaches."""
    folder = Path(tempfile.mkdtemp(prefix="cowork-nobody-"))
    yield folder
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)


BECOME_NOBODY = """
import os, sys
from pathlib import Path
import encodings.idna, encodings.unicode_escape
from tests.unit.checkpoints.conftest import *
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
site = Site(Path(sys.argv[1]))
"""


def run_as_nobody(code: str, folder: Path) -> None:
    """Run a test in a process without privileges; root may do everything."""
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 65534, 65534, follow_symlinks=False)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    code = f"{BECOME_NOBODY}{code}\nprint('fine')"
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "fine\n", done.stderr


def why(found: Iterable[Uncovered | Skipped]) -> dict[str, str]:
    return {one.path: one.why for one in found}
