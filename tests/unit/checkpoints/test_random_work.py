"""Random work of an agent and a user, with rollbacks, against a model in memory.

The model knows files by path and content, nothing of disks. Every content is written once
only, so whose it is can always be told.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cowork_jupyter.checkpoints.store import Checkpoint

from .conftest import Site

pytestmark = pytest.mark.process

PATHS = ("a", "d/b", "d/c", "d/e/f", "x/y")
Files = dict[str, str]


@dataclass
class Step:
    """What one checkpoint recorded: content before and after, None for no file."""

    name: str
    changes: dict[str, tuple[str | None, str | None]]


class RandomWork(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        in_memory = os.environ.get("PYTEST_DEBUG_TEMPROOT")
        self.folder = Path(tempfile.mkdtemp(prefix="cowork-random-", dir=in_memory))
        self.site = Site(self.folder)
        self.files: Files = {}
        self.users: set[str] = set()
        """All that the user ever wrote."""
        self.steps: list[Step] = []
        self.numbers = itertools.count()

    def teardown(self) -> None:
        self.site.store.close()
        shutil.rmtree(self.folder)

    # --- work

    @rule(path=st.sampled_from(PATHS), removes=st.booleans())
    def user_works(self, path: str, removes: bool) -> None:
        content = None if removes and path in self.files else self._words("user")
        self._put(path, content)
        if content:
            self.users.add(content)

    @rule(path=st.sampled_from(PATHS), removes=st.booleans())
    def agent_uses_a_file_tool(self, path: str, removes: bool) -> None:
        before = self.files.get(path)
        name = f"cp{len(self.steps)}"
        with self.site.named(name, [path]):
            self._put(path, None if removes and before else self._words("agent"))
        self._remember(name, {path: before})

    @rule(paths=st.sets(st.sampled_from(PATHS), min_size=1), removes=st.booleans())
    def agent_runs_a_command(self, paths: set[str], removes: bool) -> None:
        was = dict(self.files)
        before = self.site.scan()
        for path in sorted(paths):
            self._put(path, None if removes and path in self.files else self._words("agent"))
        name = f"cp{len(self.steps)}"
        self.site.record(name, before)
        self._remember(name, {path: was.get(path) for path in paths})

    @rule()
    def somebody_restarts(self) -> None:
        self.site.reopen()

    @rule(to=st.sampled_from(PATHS), source=st.sampled_from(PATHS))
    def user_moves(self, source: str, to: str) -> None:
        if source in self.files and source != to:
            content = self.files[source]
            self._put(source, None)
            self._put(to, content)
            self.users.add(content)  # where it is now is the user's doing

    # --- going back

    @precondition(lambda self: self.steps)
    @rule(data=st.data(), since=st.booleans())
    def roll_back(self, data: st.DataObject, since: bool) -> None:
        first = data.draw(st.integers(0, len(self.steps) - 1))
        last = len(self.steps) if since else first + 1
        wanted, skipped = self._expected(first, last)
        was = dict(self.files)
        plan = self.site.roll_back(*(step.name for step in self.steps[first:last]))
        name = f"cp{len(self.steps)}"
        self.site.store.record(Checkpoint("ctx", changes=plan.changes, id=name), self.site.root)
        self.files = wanted
        self._remember(name, {path: was.get(path) for path in {*was, *wanted}})
        files = {one.path for one in plan.skipped} & set(PATHS)
        assert files == skipped
        for path, content in was.items():
            if content in self.users and self.files.get(path) != content:
                # Gone from its place: only if we had put it there, or put it back.
                assert any(content in step.changes.get(path, ()) for step in self.steps[:-1])

    @precondition(lambda self: self.steps)
    @rule()
    def undo_at_once(self) -> None:
        """A rollback, taken back at once, leaves no trace."""
        was = dict(self.files)
        plan = self.site.roll_back(self.steps[-1].name)
        self.site.store.record(Checkpoint("ctx", changes=plan.changes, id="undone"), self.site.root)
        self.site.roll_back("undone")
        with self.site.store.database.transaction() as connection:
            connection.execute("DELETE FROM checkpoints WHERE id='undone'")
        assert self._on_disk() == was

    @invariant()
    def the_workspace_is_what_the_model_says(self) -> None:
        assert self._on_disk() == self.files

    # --- the model

    def _expected(self, first: int, last: int) -> tuple[Files, set[str]]:
        """The files after a rollback of these steps, and which of them are left alone."""
        files, skipped = dict(self.files), set()
        for path in PATHS:
            story = [one.changes[path] for one in self.steps[first:] if path in one.changes]
            touched = any(path in one.changes for one in self.steps[first:last])
            chosen = [one for one in self.steps[first:last] if path in one.changes]
            if not touched:
                continue
            start = self.steps.index(chosen[0])
            story = [one.changes[path] for one in self.steps[start:] if path in one.changes]
            target, present = story[0][0], files.get(path)
            if present == target:
                continue
            ours = {target}
            broken = False
            for before, after in story:
                broken = broken or before not in ours
                ours.add(after)
            if broken or present not in ours:
                skipped.add(path)
            elif target is None:
                del files[path]
            else:
                files[path] = target
        return files, skipped

    def _words(self, who: str) -> str:
        return f"{who} {next(self.numbers):06}"

    def _remember(self, name: str, before: dict[str, str | None]) -> None:
        changes = {
            path: (old, self.files.get(path))
            for path, old in before.items()
            if old != self.files.get(path)
        }
        self.steps.append(Step(name, changes))

    def _put(self, path: str, content: str | None) -> None:
        place = self.site.root / path
        if content is None:
            if path in self.files:
                place.unlink()
                del self.files[path]
            return
        self.site.write(path, content)
        self.files[path] = content

    def _on_disk(self) -> Files:
        root = self.site.root
        return {
            str(path.relative_to(root)): path.read_text()
            for path in root.rglob("*")
            if path.is_file()
        }


TestRandomWork = RandomWork.TestCase
TestRandomWork.settings = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
